/* resize.h - GPU arithmetic of layers that change the size of images: Interp, Upsample,
 * SPP. All arrays are float32 in device memory, planes one behind the other; a mask that
 * points out of its plane gives NaN. */
#ifndef FIRE_LAYERS_VISION_RESIZE_H
#define FIRE_LAYERS_VISION_RESIZE_H
#include "layers/vision/interp.h"
#include "layers/pooling/pool.h"

FIRE_BEGIN_C
/* in: height and width of the input, whatever part of it is used. */
fire_status_t fire_gpu_interp(fire_stream_t *s, const fire_interp_t *p, int64_t planes,
                              const int64_t *in, const float *x, float *y);
fire_status_t fire_gpu_interp_back(fire_stream_t *s, const fire_interp_t *p,
                                   int64_t planes, const int64_t *in, const float *dy,
                                   float *dx);

/* Height and width of input and output; scale is for repeating. */
typedef struct fire_gpu_zoom {
    int64_t planes, in[2], out[2], scale[2];
} fire_gpu_zoom_t;

/* Every value scale[0] x scale[1] times. */
fire_status_t fire_gpu_repeat(fire_stream_t *s, const fire_gpu_zoom_t *z,
                              const float *x, float *y);
fire_status_t fire_gpu_repeat_back(fire_stream_t *s, const fire_gpu_zoom_t *z,
                                   const float *dy, float *dx);
/* Every value to where in its plane the mask says; of several the last one stays. */
fire_status_t fire_gpu_unpool(fire_stream_t *s, const fire_gpu_zoom_t *z,
                              const float *mask, const float *x, float *y);
fire_status_t fire_gpu_unpool_back(fire_stream_t *s, const fire_gpu_zoom_t *z,
                                   const float *mask, const float *dy, float *dx);

/* All levels of a pyramid, of images of so many channels. index (NULL: average) has a
 * place for every maximum. */
fire_status_t fire_gpu_pyramid(fire_stream_t *s, const fire_pyramid_t *p,
                               int64_t images, int64_t channels, const float *x,
                               float *y, int32_t *index);
fire_status_t fire_gpu_pyramid_back(fire_stream_t *s, const fire_pyramid_t *p,
                                    int64_t images, int64_t channels, const float *dy,
                                    const int32_t *index, float *dx);
FIRE_END_C
#endif
