/* resample.c - Resample, of FlowNet2: images of another size by the nearest element, or
 * by a triangle (LINEAR) or cubic filter, which with `antialias` is widened where the
 * image becomes smaller.
 *
 *   bottom 0: (N, C, H, W)      bottom 1: (optional) only its height and width are used
 *   top 0:    (N, C, H', W')
 *
 * The middle of element i lies at i s + t / 2 - 0.5 of the input, with s the scale along
 * this axis and t that along the other, as FlowNet2 has it. */
#include <math.h>

#include "layers/vision/resample/taps.h"

typedef Caffe__ResampleParameter__ResampleType kind_t;
#define KIND(name) CAFFE__RESAMPLE_PARAMETER__RESAMPLE_TYPE__##name

/* scale: input elements for one of the result; narrow: 1 / width of the filter. */
typedef struct resample {
    kind_t kind;
    float  scale[2], narrow[2];
} resample_t;

static float centre(const void *arg, int axis, int64_t i)
{
    const resample_t *r  = arg;
    float             at = (float)i * r->scale[axis] + r->scale[1 - axis] / 2.0f - 0.5f;

    return r->kind == KIND(NEAREST) ? roundf(at) : at;
}

/* Keys' cubic with a = -0.5. */
static float cubic(float x)
{
    x = fabsf(x);
    if (x <= 1.0f) return x * x * (1.5f * x - 2.5f) + 1.0f;
    return x < 2.0f ? x * (x * (-0.5f * x + 2.5f) - 4.0f) + 2.0f : 0.0f;
}

static float weight(const void *arg, int axis, float distance)
{
    const resample_t *r = arg;

    if (r->kind == KIND(NEAREST)) return distance == 0.0f ? 1.0f : 0.0f;
    distance *= r->narrow[axis];
    if (r->kind == KIND(CUBIC)) return cubic(distance);
    return fabsf(distance) < 1.0f ? 1.0f - fabsf(distance) : 0.0f;
}

/* Height and width of the result. */
static fire_status_t result_size(const fire_layer_t *l, int64_t out[2])
{
    const Caffe__ResampleParameter *p =
        FIRE_PARAM(l, resample_param, CAFFE__RESAMPLE_PARAMETER__INIT);
    const fire_blob_t *x = l->bottom[0];

    if (x->ndim != 4 || (l->nbottom > 1 && l->bottom[1]->ndim != 4))
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "the bottoms must have 4 axes (num, channels, height, width)");
    for (int i = 0; i < 2; i++) {
        out[i] = i == 0 ? p->height : p->width;
        if (p->has_factor) out[i] = (int64_t)((float)x->dim[2 + i] * p->factor);
        if (l->nbottom > 1) out[i] = l->bottom[1]->dim[2 + i];
        if (out[i] < 1 || out[i] > INT32_MAX)
            return FIRE_FAIL(FIRE_ERR_INVALID,
                             "height and width must be given and at least 1, or by a "
                             "second bottom");
    }
    return FIRE_OK;
}

static fire_status_t resample_reshape(fire_layer_t *l)
{
    const Caffe__ResampleParameter *p =
        FIRE_PARAM(l, resample_param, CAFFE__RESAMPLE_PARAMETER__INIT);
    fire_taps_t       *t    = FIRE_STATE(l, fire_taps_t);
    const fire_blob_t *x    = l->bottom[0];
    resample_t         r    = {.kind = p->type};
    fire_tap_rule_t    rule = {.centre = centre, .weight = weight, .arg = &r};
    bool               less;

    if (p->type == KIND(AREA))
        return FIRE_FAIL(FIRE_ERR_UNSUPPORTED, "type is NEAREST, LINEAR or CUBIC");
    FIRE_TRY(result_size(l, t->out));
    for (int i = 0; i < 2; i++) {
        t->in[i]   = x->dim[2 + i];
        r.scale[i] = (float)t->in[i] / (float)t->out[i];
    }
    less = p->antialias && (r.scale[0] > 1 || r.scale[1] > 1);
    for (int i = 0; i < 2; i++) {
        int width      = p->type == KIND(CUBIC) ? 4 : 2;
        r.narrow[i]    = less ? 1.0f / r.scale[i] : 1.0f;
        rule.radius[i] = p->type == KIND(NEAREST) ? 0
                         : r.scale[i] < 1.0f
                             ? 2
                             : (int64_t)ceilf((float)width / r.narrow[i]);
    }
    t->planes = x->dim[0] * x->dim[1];
    FIRE_TRY(fire_taps_fill(t, &rule));
    return fire_blob_reshape(l->top[0], 4,
                             (int64_t[]){x->dim[0], x->dim[1], t->out[0], t->out[1]});
}

const fire_layer_ops_t fire_layer_resample = {
    .type        = "Resample",
    .bottoms     = {1, 2},
    .tops        = {1, 1},
    .no_gradient = 1u << 1, /* only its size is used */
    .state_size  = sizeof(fire_taps_t),
    .reshape     = resample_reshape,
    .teardown    = fire_taps_teardown,
    .kernels     = fire_taps_kernels,
};
