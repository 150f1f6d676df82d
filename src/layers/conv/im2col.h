/* im2col.h - im2col and col2im on the GPU, in float32, for images of any number of
 * axes. */
#ifndef FIRE_LAYERS_CONV_IM2COL_H
#define FIRE_LAYERS_CONV_IM2COL_H
#include <string.h>

#include "device/gpu.h"
#include "device/window.h"

/* Between images (images, channels, in...) and columns (images, channels, kernel...,
 * out...), which hold each patch that the kernel covers. */
typedef struct fire_gpu_im2col_shape {
    fire_window_t window;
    int64_t       images, channels;
    int64_t       in[FIRE_MAX_SPATIAL], out[FIRE_MAX_SPATIAL];
} fire_gpu_im2col_t;

static inline fire_gpu_im2col_t fire_gpu_im2col_shape(const fire_window_t *w,
                                                      int64_t images, int64_t channels,
                                                      const int64_t *in,
                                                      const int64_t *out)
{
    size_t            bytes = (size_t)w->axes * sizeof(*in);
    fire_gpu_im2col_t c;

    c.window   = *w;
    c.images   = images;
    c.channels = channels;
    memcpy(c.in, in, bytes);
    memcpy(c.out, out, bytes);
    return c;
}

FIRE_BEGIN_C
fire_status_t fire_gpu_im2col(fire_stream_t *s, const fire_gpu_im2col_t *c,
                              const float *image, float *columns);
/* The transpose: each image element is the sum of all elements that im2col() copies it
 * to. */
fire_status_t fire_gpu_col2im(fire_stream_t *s, const fire_gpu_im2col_t *c,
                              const float *columns, float *image);
FIRE_END_C
#endif
