/* convert.h - number formats and layouts on the GPU. */
#ifndef FIRE_DEVICE_CUDA_CONVERT_H
#define FIRE_DEVICE_CUDA_CONVERT_H
#include "device/cuda/cuda.h"

FIRE_BEGIN_C
fire_status_t fire_cuda_convert(const fire_format_t *from, const void *src,
                                const fire_format_t *to, void *dst, int ndim,
                                const int64_t *dim);
FIRE_END_C
#endif
