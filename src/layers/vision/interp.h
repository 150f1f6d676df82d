/* interp.h - bilinear resizing along one axis with aligned corners; inline for CPU and
 * GPU. */
#ifndef FIRE_LAYERS_VISION_INTERP_H
#define FIRE_LAYERS_VISION_INTERP_H
#include "base/everywhere.h"
#include "layers/layer.h"

/* Sizes for height [0] and width [1]: rows skipped by a crop, used part of the input,
 * result. */
typedef struct fire_interp {
    int64_t skip, in[2], out[2];
} fire_interp_t;

/* Element i of the result is w_low * input[low] + w_high * input[high]. */
typedef struct fire_mix {
    int64_t low, high;
    float   w_low, w_high;
} fire_mix_t;

/* Distance in the input between neighbours of the result. */
FIRE_EVERYWHERE float fire_interp_ratio(const fire_interp_t *s, int axis)
{
    return s->out[axis] > 1 ? (float)(s->in[axis] - 1) / (float)(s->out[axis] - 1)
                            : 0.0f;
}

FIRE_EVERYWHERE fire_mix_t fire_interp_mix(const fire_interp_t *s, int axis, int64_t i)
{
    float      at  = fire_interp_ratio(s, axis) * (float)i;
    int64_t    low = (int64_t)at;
    fire_mix_t m;

    m.w_high = at - (float)low;
    m.w_low  = 1.0f - m.w_high;
    m.low    = low + s->skip;
    m.high   = low < s->in[axis] - 1 ? m.low + 1 : m.low;
    return m;
}
#endif
