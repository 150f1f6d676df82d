/* space_to_depth.h - rearranges images of few channels for tensor cores: channels last,
 * and blocks of f x f places as the channels of one place, where f is the stride:
 *
 *     dst[n][y][x][(c, dy, dx)] = src[n][c][y f + dy - pad][x f + dx - pad]
 *
 * with zeros outside of the image and in channels up to `pitch`. With weights
 * rearranged in the same way, the convolution has stride 1 and gives the same sums: 3
 * channels with stride 2 become 12, padded to 16. */
#ifndef FIRE_LAYERS_CONV_SPACE_TO_DEPTH_H
#define FIRE_LAYERS_CONV_SPACE_TO_DEPTH_H
#include "device/cuda/cuda.h"

typedef struct fire_gpu_space_to_depth {
    int64_t rows;             /* images, or output channels of weights */
    int     channels, factor; /* C and f */
    int     pitch;            /* channels of dst, padded to a multiple of 16 bytes */
    int     in[2], out[2];    /* height and width of src and of dst */
    int     before[2];        /* pad: rows and columns of zeros before the image */
} fire_gpu_space_to_depth_t;

FIRE_BEGIN_C
/* src: (rows, channels, in), float32; dst: (rows, out, pitch), dtype. */
fire_status_t fire_gpu_space_to_depth(fire_stream_t *s, fire_dtype_t dtype,
                                      const fire_gpu_space_to_depth_t *f,
                                      const float *src, void *dst);
/* The inverse, for gradients of weights: dst (rows, channels, in), float32, = (add ?
 * dst : 0) + its elements of src (rows, out, pitch), dtype. */
fire_status_t fire_gpu_depth_to_space(fire_stream_t *s, fire_dtype_t dtype,
                                      const fire_gpu_space_to_depth_t *f,
                                      const void *src, bool add, float *dst);
FIRE_END_C
#endif
