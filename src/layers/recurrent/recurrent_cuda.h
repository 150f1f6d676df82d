/* recurrent_cuda.h - GPU kernels of recurrent layers. Arrays are float32 in device
 * memory. */
#ifndef FIRE_LAYERS_RECURRENT_RECURRENT_CUDA_H
#define FIRE_LAYERS_RECURRENT_RECURRENT_CUDA_H
#include "device/cpu/blas.h"
#include "layers/layer.h"

FIRE_BEGIN_C
/* C = op(A) op(B) + beta C, as fire_gemm(). */
fire_status_t fire_gpu_product(const fire_layer_t *l, fire_trans_t ta, fire_trans_t tb,
                               int64_t m, int64_t n, int64_t k, const float *a,
                               const float *b, float beta, float *c);

/* y[row] = factor[row] * x[row]; y[row] += x, for all rows of `width` floats. */
fire_status_t fire_gpu_scale_rows(fire_stream_t *s, int64_t rows, int64_t width,
                                  const float *factor, const float *x, float *y);
fire_status_t fire_gpu_add_row(fire_stream_t *s, int64_t rows, int64_t width,
                               const float *x, float *y);

/* y = tanh(x), and dx = (dy + more) * (1 - y^2); more may be NULL. */
fire_status_t fire_gpu_tanh(fire_stream_t *s, int64_t n, const float *x, float *y);
fire_status_t fire_gpu_tanh_back(fire_stream_t *s, int64_t n, const float *y,
                                 const float *dy, const float *more, float *dx);

/* As fire_lstm_cell() and fire_lstm_cell_back(). */
fire_status_t fire_gpu_lstm(fire_stream_t *s, int64_t rows, int64_t units,
                            const float *c_prev, const float *x, const float *cont,
                            float *c, float *h);
fire_status_t fire_gpu_lstm_back(fire_stream_t *s, int64_t rows, int64_t units,
                                 const float *c_prev, const float *x, const float *cont,
                                 const float *c, const float *dc, const float *dh,
                                 float *dc_prev, float *dx);
FIRE_END_C
#endif
