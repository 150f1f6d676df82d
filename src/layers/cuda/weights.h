/* weights.h - arrays of few channels as libraries like them, and gradients of weights as
 * libraries leave them. */
#ifndef FIRE_LAYERS_CUDA_WEIGHTS_H
#define FIRE_LAYERS_CUDA_WEIGHTS_H
#include "layers/cuda/layer_cuda.h"

FIRE_BEGIN_C
/* dst (rows, channels, taps) = (add ? dst : 0) + src (rows, taps, pitch), of which the
 * first channels are taken */
fire_status_t fire_gpu_weights_gather(fire_stream_t *s, fire_dtype_t dtype,
                                      int64_t rows, int64_t channels, int64_t pitch,
                                      int64_t taps, const void *src, bool add,
                                      float *dst);
/* dst (rows, plane, 16 bytes of channels) = src (rows, channels, plane), then zeros */
fire_status_t fire_gpu_pad_channels(fire_stream_t *s, fire_dtype_t dtype, int64_t rows,
                                    int64_t channels, int64_t plane, const float *src,
                                    void *dst);
FIRE_END_C
#endif
