/* weight_layout.h - gradients of weights from cuDNN's layout (channels last, KRSC) to a
 * blob's (KCRS). */
#ifndef FIRE_LAYERS_CONV_WEIGHT_LAYOUT_H
#define FIRE_LAYERS_CONV_WEIGHT_LAYOUT_H
#include "device/cuda/cuda.h"

FIRE_BEGIN_C
/* dst (rows, channels, taps), float32, = (add ? dst : 0) + src (rows, taps,
 * channels). */
fire_status_t fire_gpu_weights_from_nhwc(fire_stream_t *s, fire_dtype_t dtype,
                                         int64_t rows, int64_t channels, int64_t taps,
                                         const void *src, bool add, float *dst);
FIRE_END_C
#endif
