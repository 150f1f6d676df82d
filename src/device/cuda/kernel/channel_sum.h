/* channel_sum.h - a bias on the GPU: sums over a channel, and values added to all of a
 * channel, with or without a ReLU. x, y, dy: (outer, channels, inner) as in view.h, of
 * type dtype; b, sum: (channels), float32. */
#ifndef FIRE_DEVICE_CUDA_KERNEL_CHANNEL_SUM_H
#define FIRE_DEVICE_CUDA_KERNEL_CHANNEL_SUM_H
#include "device/cuda/kernel/view.h"

FIRE_BEGIN_C
/* sum[c] = (add ? sum[c] : 0) + the sum of x over outer and inner. */
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
/* The backward pass of that, given y: dy becomes y > 0 ? dy : 0, and sum (or NULL) gets
 * the bias's gradient, as in fire_gpu_channel_sum(). */
fire_status_t fire_gpu_channel_relu_back(fire_stream_t *s, fire_gpu_view_t view,
                                         fire_dtype_t dtype, const void *y, void *dy,
                                         bool add, float *sum);
FIRE_END_C
#endif
