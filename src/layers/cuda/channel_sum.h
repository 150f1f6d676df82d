/* channel_sum.h - sums and offsets per channel, for layers that have a bias. */
#ifndef FIRE_LAYERS_CUDA_CHANNEL_SUM_H
#define FIRE_LAYERS_CUDA_CHANNEL_SUM_H
#include "layers/cuda/layer_cuda.h"

FIRE_BEGIN_C
/* sum[c] = (add ? sum[c] : 0) + sums of x over all but the channels. */
fire_status_t fire_gpu_channel_sum(fire_stream_t *s, fire_gpu_view_t view,
                                   fire_dtype_t dtype, const void *x, bool add,
                                   float *sum);
/* y = x + b[c]; y may be x. */
fire_status_t fire_gpu_channel_add(fire_stream_t *s, fire_gpu_view_t view,
                                   fire_dtype_t dtype, const void *x, const float *b,
                                   void *y);
FIRE_END_C
#endif
