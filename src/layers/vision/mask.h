/* mask.h - MaskPooling on the GPU. x, y: (items, channels, places), mask: (items,
 * places); float32 in device memory. */
#ifndef FIRE_LAYERS_VISION_MASK_H
#define FIRE_LAYERS_VISION_MASK_H
#include "layers/layer.h"

typedef struct fire_mask {
    int64_t items, channels, places;
} fire_mask_t;

FIRE_BEGIN_C
/* y = x * mask, which is also the gradient of x, from that of y. */
fire_status_t fire_gpu_mask(fire_stream_t *s, const fire_mask_t *m, const float *x,
                            const float *mask, float *y);
/* The gradient of the mask: dy * x, summed over the channels. */
fire_status_t fire_gpu_mask_back(fire_stream_t *s, const fire_mask_t *m, const float *x,
                                 const float *dy, float *dmask);
FIRE_END_C
#endif
