/* reduce.h - sums of float32 arrays. The compiler vectorises over elements only, so
 * every element gets exactly the additions written here, in this order, on every
 * machine. bench/sim/no_sums.c replaces this file in simulations. */
#ifndef FIRE_COMM_REDUCE_H
#define FIRE_COMM_REDUCE_H
#include <stddef.h>

/* dst[i] = a[i] + b[i]; dst may be a or b. */
void fire_sum_pair(float *dst, const float *a, const float *b, size_t n);

/* The canonical sum (sched.h) of src[0] ... src[nsrc-1], arrays of n elements, into
 * each of dst[0] ... dst[ndst-1], in one pass over memory. A dst may be a src. nsrc >
 * 0. src[i] is the sum of a subtree, lanes lane[i] ... lane[i + 1] - 1; NULL: of lane
 * i. */
void fire_sum_all(float *const *dst, int ndst, const float *const *src, int nsrc,
                  const int *lane, size_t n);
#endif
