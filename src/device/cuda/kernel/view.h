/* view.h - the shape of a blob for kernels that work by channel. */
#ifndef FIRE_DEVICE_CUDA_KERNEL_VIEW_H
#define FIRE_DEVICE_CUDA_KERNEL_VIEW_H
#include "device/cuda/cuda.h"

/* (outer, channels, inner), dense: NCHW has outer = N and inner = H W, NHWC has outer =
 * N H W and inner = 1. */
typedef struct fire_gpu_view {
    int64_t outer, channels, inner;
} fire_gpu_view_t;
#endif
