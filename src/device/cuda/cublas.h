/* cublas.h - matrix products on the GPU, row-major as in device/cpu/blas.h. */
#ifndef FIRE_DEVICE_CUDA_CUBLAS_H
#define FIRE_DEVICE_CUDA_CUBLAS_H
#include "device/cuda/cuda.h"

FIRE_BEGIN_C
/* C = alpha op(A) op(B) + beta C, for `batch` triples of matrices, `step` elements from
 * one to the next. op(A) is m x k, op(B) k x n, C m x n, all dense and row-major. A and
 * B have the number format `type`, C has `c_type`; sums are float32. */
typedef struct fire_cuda_gemm {
    bool         transpose_a, transpose_b;
    int64_t      m, n, k;
    fire_dtype_t type, c_type;
    bool         tf32; /* float32 factors may be rounded to 10 bits */
    float        alpha, beta;
    int64_t      batch; /* 0: one */
    int64_t      a_step, b_step, c_step;
} fire_cuda_gemm_t;

fire_status_t fire_cuda_gemm_run(fire_stream_t *s, const fire_cuda_gemm_t *g,
                                 const void *a, const void *b, void *c);
/* Free the handle and its memory; called when the queue is closed. */
void fire_cublas_close(fire_cuda_work_queue_t *queue);
FIRE_END_C
#endif
