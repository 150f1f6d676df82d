/* resize.h - GPU kernels of layers that change the size of images: Interp, Upsample,
 * SPP. Arrays are float32 in device memory, (planes, height, width). A mask that points
 * outside of its plane gives NaN. */
#ifndef FIRE_LAYERS_VISION_RESIZE_H
#define FIRE_LAYERS_VISION_RESIZE_H
#include "layers/vision/interp.h"
#include "layers/pooling/pool.h"

FIRE_BEGIN_C
/* Interp. in: height and width of the whole input. */
fire_status_t fire_gpu_interp(fire_stream_t *s, const fire_interp_t *p, int64_t planes,
                              const int64_t *in, const float *x, float *y);
fire_status_t fire_gpu_interp_back(fire_stream_t *s, const fire_interp_t *p,
                                   int64_t planes, const int64_t *in, const float *dy,
                                   float *dx);

/* Sizes of an enlargement: [0] height, [1] width. scale: only for repeat. */
typedef struct fire_gpu_zoom {
    int64_t planes, in[2], out[2], scale[2];
} fire_gpu_zoom_t;

/* Repeat every value scale[0] x scale[1] times; back: sum the gradients. */
fire_status_t fire_gpu_repeat(fire_stream_t *s, const fire_gpu_zoom_t *z,
                              const float *x, float *y);
fire_status_t fire_gpu_repeat_back(fire_stream_t *s, const fire_gpu_zoom_t *z,
                                   const float *dy, float *dx);
/* Put every value where the mask says (an index into the output plane), 0 elsewhere. If
 * several values have the same place, the last one is kept. */
fire_status_t fire_gpu_unpool(fire_stream_t *s, const fire_gpu_zoom_t *z,
                              const float *mask, const float *x, float *y);
fire_status_t fire_gpu_unpool_back(fire_stream_t *s, const fire_gpu_zoom_t *z,
                                   const float *mask, const float *dy, float *dx);

/* SPP: all levels of a pyramid. index: place of every maximum in its plane; NULL:
 * average pooling. */
fire_status_t fire_gpu_pyramid(fire_stream_t *s, const fire_pyramid_t *p,
                               int64_t images, int64_t channels, const float *x,
                               float *y, int32_t *index);
fire_status_t fire_gpu_pyramid_back(fire_stream_t *s, const fire_pyramid_t *p,
                                    int64_t images, int64_t channels, const float *dy,
                                    const int32_t *index, float *dx);
FIRE_END_C
#endif
