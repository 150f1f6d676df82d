/* space_to_depth.h - images of few channels as libraries like them: channels last, and of a
 * convolution with stride f only one in f x f places, which has the channels of all:
 *
 *     dst[n][y][x][(c, dy, dx)] = src[n][c][y f + dy - pad][x f + dx - pad]
 *
 * with zeros outside and in the channels up to `pitch`. Weights fold in the same way, and
 * the convolution of what is folded has stride 1. */
#ifndef FIRE_LAYERS_CONV_SPACE_TO_DEPTH_H
#define FIRE_LAYERS_CONV_SPACE_TO_DEPTH_H
#include "device/cuda/cuda.h"

typedef struct fire_gpu_space_to_depth {
    int64_t rows;
    int     channels, factor, pitch;  /* pitch: a multiple of 16 bytes */
    int     in[2], out[2], before[2]; /* before: the first row and column are -before */
} fire_gpu_space_to_depth_t;

FIRE_BEGIN_C
fire_status_t fire_gpu_space_to_depth(fire_stream_t *s, fire_dtype_t dtype,
                                      const fire_gpu_space_to_depth_t *f,
                                      const float *src, void *dst);
/* Back: dst (rows, channels, in) = (add ? dst : 0) + what src has for it. */
fire_status_t fire_gpu_depth_to_space(fire_stream_t *s, fire_dtype_t dtype,
                                      const fire_gpu_space_to_depth_t *f,
                                      const void *src, bool add, float *dst);
FIRE_END_C
#endif
