/* reduce.h - sums of float32 arrays. Vectorised by the compiler for the machine
 * at hand; every element gets exactly the additions written here. */
#ifndef FIRE_COMM_REDUCE_H
#define FIRE_COMM_REDUCE_H
#include <stddef.h>

/* dst[i] = a[i] + b[i]; dst may be a or b. */
void fire_sum_pair(float *dst, const float *a, const float *b, size_t n);

/* The canonical sum of src[0..nsrc) into each of dst[0..ndst), in one pass over
 * memory. A dst may be a src. */
void fire_sum_all(float *const *dst, int ndst, const float *const *src, int nsrc,
                  size_t n);
#endif
