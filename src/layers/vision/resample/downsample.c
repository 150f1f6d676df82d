/* downsample.c - Downsample, of FlowNet2: images of another size with aligned corners;
 * each element is a mean of those around it, weighted by a triangle as wide as the
 * change of scale.
 *
 *   bottom 0: (N, C, H, W)      bottom 1: (optional) only its height and width are used
 *   top 0:    (N, C, H', W') */
#include <math.h>

#include "layers/vision/resample/taps.h"

static float centre(const void *arg, int axis, int64_t i)
{
    return (float)i * ((const float *)arg)[axis];
}

/* Where the image becomes larger, the triangle may hold no element but the nearest. */
static float weight(const void *arg, int axis, float distance)
{
    float scale = ((const float *)arg)[axis], w;

    if (scale == 0.0f) return distance == 0.0f ? 1.0f : 0.0f;
    w = 1.0f - fabsf(distance) / scale;
    return w > 0.0f ? w : 0.0f;
}

static fire_status_t downsample_reshape(fire_layer_t *l)
{
    const Caffe__DownsampleParameter *p =
        FIRE_PARAM(l, downsample_param, CAFFE__DOWNSAMPLE_PARAMETER__INIT);
    fire_taps_t       *t        = FIRE_STATE(l, fire_taps_t);
    const fire_blob_t *x        = l->bottom[0];
    float              scale[2] = {0, 0};
    fire_tap_rule_t    rule     = {.centre = centre, .weight = weight, .arg = scale};

    if (x->ndim != 4 || (l->nbottom > 1 && l->bottom[1]->ndim != 4))
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "the bottoms must have 4 axes (num, channels, height, width)");
    for (int i = 0; i < 2; i++) {
        t->in[i]  = x->dim[2 + i];
        t->out[i] = l->nbottom > 1 ? l->bottom[1]->dim[2 + i]
                    : i == 0       ? p->top_height
                                   : p->top_width;
        if (t->in[i] < 1 || t->out[i] < 1 || t->out[i] > t->in[i])
            return FIRE_FAIL(FIRE_ERR_INVALID,
                             "top_height and top_width must be from 1 to the bottom's: "
                             "%lld of %lld is not",
                             (long long)t->out[i], (long long)t->in[i]);
        if (t->out[i] > 1) scale[i] = (float)(t->in[i] - 1) / (float)(t->out[i] - 1);
        rule.radius[i] = (int64_t)ceilf(scale[i]);
    }
    t->planes = x->dim[0] * x->dim[1];
    FIRE_TRY(fire_taps_fill(t, &rule));
    return fire_blob_reshape(l->top[0], 4,
                             (int64_t[]){x->dim[0], x->dim[1], t->out[0], t->out[1]});
}

const fire_layer_ops_t fire_layer_downsample = {
    .type        = "Downsample",
    .bottoms     = {1, 2},
    .tops        = {1, 1},
    .no_gradient = 1u << 1, /* only its size is used */
    .state_size  = sizeof(fire_taps_t),
    .reshape     = downsample_reshape,
    .teardown    = fire_taps_teardown,
    .kernels     = fire_taps_kernels,
};
