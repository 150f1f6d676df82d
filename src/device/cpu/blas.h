/* blas.h - row-major float32 linear algebra on the CPU through cblas, and scratch
 * memory for the kernels that use it. Operands are dense: leading dimensions follow
 * from the sizes. Empty operands are allowed. Large products are cut over the calling
 * worker's threads, along the rows or columns of C, so that each element of C is made
 * by one. */
#ifndef FIRE_DEVICE_CPU_BLAS_H
#define FIRE_DEVICE_CPU_BLAS_H
#include "base/error.h"

FIRE_BEGIN_C
typedef enum fire_trans { FIRE_NO_TRANS, FIRE_TRANS } fire_trans_t;

/* C = alpha * op(A) op(B) + beta * C, with op(A) m x k, op(B) k x n. */
void fire_gemm(fire_trans_t ta, fire_trans_t tb, int64_t m, int64_t n, int64_t k,
               float alpha, const float *a, const float *b, float beta, float *c);
/* y = alpha * op(A) x + beta * y, with A (before op) m x n. */
void fire_gemv(fire_trans_t ta, int64_t m, int64_t n, float alpha, const float *a,
               const float *x, float beta, float *y);

void  fire_axpy(int64_t n, float alpha, const float *x, float *y); /* y += alpha x */
void  fire_scal(int64_t n, float alpha, float *x);
float fire_dot(int64_t n, const float *x, const float *y);
float fire_asum(int64_t n, const float *x);

/* Before `threads` threads of this process call any of these at the same time: fails
 * where addresses are limited (ulimit -v) to too few. OpenBLAS needs a buffer for each,
 * takes it in the first product, and where it gets none tries again for ever. */
fire_status_t fire_blas_reserve(int threads);

/* y = alpha x + beta y in Caffe's two steps: scale, then add. */
void fire_axpby(int64_t n, float alpha, const float *x, float beta, float *y);

void fire_fill(int64_t n, float value, float *x);
void fire_copy(int64_t n, const float *x, float *y); /* nothing if x is y */

/* A float array that a kernel keeps between passes. Start from {0}; fit() makes room
 * for n elements and keeps the contents; free() ends it. */
typedef struct fire_scratch {
    float  *x;
    int64_t cap; /* elements */
} fire_scratch_t;

fire_status_t fire_scratch_fit(fire_scratch_t *s, int64_t n);
fire_status_t fire_scratch_ones(fire_scratch_t *s, int64_t n); /* n ones */
void          fire_scratch_free(fire_scratch_t *s);
FIRE_END_C
#endif
