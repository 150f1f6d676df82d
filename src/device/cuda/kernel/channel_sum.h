/* channel_sum.h - sums and offsets per channel, for layers that have a bias. */
#ifndef FIRE_DEVICE_CUDA_KERNEL_CHANNEL_SUM_H
#define FIRE_DEVICE_CUDA_KERNEL_CHANNEL_SUM_H
#include "device/cuda/kernel/view.h"

FIRE_BEGIN_C
/* sum[c] = (add ? sum[c] : 0) + sums of x over all but the channels. */
fire_status_t fire_gpu_channel_sum(fire_stream_t *s, fire_gpu_view_t view,
                                   fire_dtype_t dtype, const void *x, bool add,
                                   float *sum);
/* y = x + b[c]; y may be x. */
fire_status_t fire_gpu_channel_add(fire_stream_t *s, fire_gpu_view_t view,
                                   fire_dtype_t dtype, const void *x, const float *b,
                                   void *y);
/* y = relu(x + b[c]), b NULL for none; y may be x. */
fire_status_t fire_gpu_channel_relu(fire_stream_t *s, fire_gpu_view_t view,
                                    fire_dtype_t dtype, const void *x, const float *b,
                                    void *y);
/* Back through that, given y: dy becomes the gradient before it, and sum (or NULL) is
 * the bias's, as in fire_gpu_channel_sum(). */
fire_status_t fire_gpu_channel_relu_back(fire_stream_t *s, fire_gpu_view_t view,
                                         fire_dtype_t dtype, const void *y, void *dy,
                                         bool add, float *sum);
FIRE_END_C
#endif
