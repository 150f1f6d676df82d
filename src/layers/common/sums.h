/* sums.h - GPU arithmetic of layers that sum over parts of a blob: rows of a matrix,
 * channels, places. All arrays are float32 in device memory. */
#ifndef FIRE_LAYERS_COMMON_SUMS_H
#define FIRE_LAYERS_COMMON_SUMS_H
#include "layers/layer.h"

FIRE_BEGIN_C
/* sum[c] += x[row][c] over all rows */
fire_status_t fire_gpu_add_rows(fire_stream_t *s, int64_t rows, int64_t width,
                                const float *x, float *sum);

/* Reduction: y[row] = coeff * sum of x, |x| or x^2. */
typedef Caffe__ReductionParameter__ReductionOp fire_gpu_power_t;

fire_status_t fire_gpu_reduce(fire_stream_t *s, fire_gpu_power_t of, float coeff,
                              int64_t rows, int64_t n, const float *x, float *y);
fire_status_t fire_gpu_reduce_back(fire_stream_t *s, fire_gpu_power_t of, float coeff,
                                   int64_t rows, int64_t n, const float *x,
                                   const float *dy, float *dx);

/* Axpy: y = a[row] x + b; gradients that are NULL are not wanted. */
fire_status_t fire_gpu_axpy(fire_stream_t *s, int64_t rows, int64_t n, const float *a,
                            const float *x, const float *b, float *y);
fire_status_t fire_gpu_axpy_da(fire_stream_t *s, int64_t rows, int64_t n,
                               const float *x, const float *dy, float *da);
fire_status_t fire_gpu_axpy_dx(fire_stream_t *s, int64_t rows, int64_t n,
                               const float *a, const float *dy, float *dx);

/* PReLU over outer x channels x inner; slopes: channels of them, or 1. */
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

/* MVN: y = x - mean of the row, divided by its deviation + eps if `variance`. */
fire_status_t fire_gpu_mvn(fire_stream_t *s, int64_t rows, int64_t n, bool variance,
                           float eps, const float *x, float *y);
fire_status_t fire_gpu_mvn_back(fire_stream_t *s, int64_t rows, int64_t n,
                                bool variance, float eps, const float *x,
                                const float *y, const float *dy, float *dx);

/* Normalize: y = g x / sqrt(sum x^2 + eps), the sum over channels of a place or, if
 * `across`, over the image; norm (and sum) have one number for each of these. */
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
