/* sums.h - the GPU side of layers that sum over parts of a blob: Reduction, Axpy,
 * PReLU, MVN, Normalize, and biases. All arrays are float32 in device memory; a
 * function queues its kernels on the stream and returns. Results overwrite, unless said
 * otherwise. */
#ifndef FIRE_LAYERS_COMMON_SUMS_H
#define FIRE_LAYERS_COMMON_SUMS_H
#include "layers/layer.h"

FIRE_BEGIN_C
/* sum[c] += x[row][c] over all rows; x: (rows, width) */
fire_status_t fire_gpu_add_rows(fire_stream_t *s, int64_t rows, int64_t width,
                                const float *x, float *sum);

/* Reduction: y[row] = coeff * sum of x, |x| or x^2; x: (rows, n). */
typedef Caffe__ReductionParameter__ReductionOp fire_gpu_power_t;

fire_status_t fire_gpu_reduce(fire_stream_t *s, fire_gpu_power_t of, float coeff,
                              int64_t rows, int64_t n, const float *x, float *y);
fire_status_t fire_gpu_reduce_back(fire_stream_t *s, fire_gpu_power_t of, float coeff,
                                   int64_t rows, int64_t n, const float *x,
                                   const float *dy, float *dx);

/* Axpy: y = a[row] x + b; x, b, y: (rows, n). */
fire_status_t fire_gpu_axpy(fire_stream_t *s, int64_t rows, int64_t n, const float *a,
                            const float *x, const float *b, float *y);
fire_status_t fire_gpu_axpy_da(fire_stream_t *s, int64_t rows, int64_t n,
                               const float *x, const float *dy, float *da);
fire_status_t fire_gpu_axpy_dx(fire_stream_t *s, int64_t rows, int64_t n,
                               const float *a, const float *dy, float *dx);

/* PReLU of x: (outer, channels, inner); slope: (slopes), channels of them or 1. */
typedef struct fire_gpu_planes {
    int64_t outer, channels, inner, slopes;
} fire_gpu_planes_t;

fire_status_t fire_gpu_prelu(fire_stream_t *s, const fire_gpu_planes_t *p,
                             const float *slope, const float *x, float *y);
fire_status_t fire_gpu_prelu_dx(fire_stream_t *s, const fire_gpu_planes_t *p,
                                const float *slope, const float *x, const float *dy,
                                float *dx);
/* Adds to dslope. */
fire_status_t fire_gpu_prelu_dslope(fire_stream_t *s, const fire_gpu_planes_t *p,
                                    const float *x, const float *dy, float *dslope);

/* MVN of x: (rows, n): y = x - mean of the row, and if `variance`, divided by the row's
 * standard deviation + eps. */
fire_status_t fire_gpu_mvn(fire_stream_t *s, int64_t rows, int64_t n, bool variance,
                           float eps, const float *x, float *y);
fire_status_t fire_gpu_mvn_back(fire_stream_t *s, int64_t rows, int64_t n,
                                bool variance, float eps, const float *x,
                                const float *y, const float *dy, float *dx);

/* Normalize: y = g x / sqrt(sum x^2 + eps), where the sum goes over the channels of one
 * place or, if `across`, over the whole image; norm and sum hold one number per sum. */
typedef struct fire_gpu_units {
    int64_t images, channels, plane;
    bool    across, shared; /* shared: one gain for all channels */
    float   eps;
} fire_gpu_unit_t;

fire_status_t fire_gpu_unit(fire_stream_t *s, const fire_gpu_unit_t *u, const float *g,
                            const float *x, float *norm, float *y);
fire_status_t fire_gpu_unit_dx(fire_stream_t *s, const fire_gpu_unit_t *u,
                               const float *g, const float *norm, const float *x,
                               const float *dy, float *sum, float *dx);
/* Adds to dg. */
fire_status_t fire_gpu_unit_dg(fire_stream_t *s, const fire_gpu_unit_t *u,
                               const float *norm, const float *x, const float *dy,
                               float *dg);
FIRE_END_C
#endif
