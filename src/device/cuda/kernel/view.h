/* view.h - a blob as kernels that care for channels see it. */
#ifndef FIRE_DEVICE_CUDA_KERNEL_VIEW_H
#define FIRE_DEVICE_CUDA_KERNEL_VIEW_H
#include "device/cuda/cuda.h"

/* Channels last has inner 1. */
typedef struct fire_gpu_view {
    int64_t outer, channels, inner;
} fire_gpu_view_t;
#endif
