/* norm_simd.c - BatchNorm and Scale on blocked arrays. BatchNorm absorbs a Scale and a
 * ReLU that follow in place, Scale absorbs a ReLU; channel_norm.c does the work. */
#include <math.h>
#include <string.h>

#include "layers/activation/relu.h"
#include "layers/norm/batch_norm.h"
#include "layers/norm/channel_norm.h"
#include "layers/norm/scale.h"

/* kept: x for backward, where y overwrites its blob; its storage is swapped, not
 * copied. */
typedef struct norm_simd {
    fire_channel_norm_t norm;
    fire_blob_t        *kept;
    fire_format_t       format; /* of x */
} norm_simd_t;

enum { FEW_CHANNELS = 8 };

static const char *norm_simd_declines(const fire_layer_t *l)
{
    const fire_blob_t *x = l->bottom[0];

    if (x->ndim < 2 || fire_blob_count(x) == 0) return "the input has no channels";
    return x->dim[1] < FEW_CHANNELS ? "there are few channels" : NULL;
}

static fire_status_t norm_simd_prepare(fire_layer_t *l)
{
    norm_simd_t  *s;
    fire_status_t st;

    if (l->kernel_state != NULL) return FIRE_OK;
    FIRE_TRY(FIRE_NEW(&s, 1));
    FIRE_TRY_GOTO(st, fire_blob_create(&s->kept), err_state);
    fire_storage_use_pool(s->kept->part[FIRE_DATA], l->ctx->pool, false);
    l->kernel_state = s;
    return FIRE_OK;

err_state:
    fire_free(s);
    return st;
}

static void norm_simd_release(fire_layer_t *l)
{
    norm_simd_t *s = l->kernel_state;

    if (s == NULL) return;
    fire_channel_norm_free(&s->norm);
    fire_blob_destroy(s->kept);
    fire_free(s);
    l->kernel_state = NULL;
}

/* Where gain and shift come from: blobs of the layer itself, of an absorbed Scale, or
 * none. */
typedef struct source {
    const fire_layer_t *l;           /* NULL: no gain, no shift */
    int                 gain, shift; /* among its parameters; shift -1: none */
} source_t;

static source_t source_of(const fire_layer_t *l)
{
    const fire_layer_t *scale = fire_layer_follower(l, "Scale");

    if (strcmp(l->ops->type, "Scale") == 0) scale = l;
    if (scale != NULL)
        return (source_t){scale, 0, FIRE_STATE(scale, fire_scale_t)->bias};
    if (fire_batch_norm_has_gain(l)) {
        fire_batch_norm_blobs_t at = FIRE_STATE(l, fire_batch_norm_t)->at;

        return (source_t){l, at.gain, at.shift};
    }
    return (source_t){NULL, -1, -1};
}

static fire_status_t read_source(const fire_layer_t *l, fire_channel_norm_t *c)
{
    source_t     s     = source_of(l);
    size_t       bytes = (size_t)l->bottom[0]->dim[1] * sizeof(float);
    const float *x;

    c->slope = fire_relu_follower_slope(l);
    c->relu  = c->slope != 1.0f;
    if (s.l != NULL) {
        FIRE_IN(l, s.l->blob[s.gain], FIRE_DATA, &x);
        memcpy(c->gain, x, bytes);
    }
    if (s.shift >= 0) {
        FIRE_IN(l, s.l->blob[s.shift], FIRE_DATA, &x);
        memcpy(c->shift, x, bytes);
    }
    return FIRE_OK;
}

static fire_status_t add_to(const fire_layer_t *l, const fire_layer_t *owner, int blob,
                            const float *sums)
{
    float *diff;

    if (blob < 0 || !owner->param_gradient[blob]) return FIRE_OK;
    FIRE_INOUT(l, owner->blob[blob], FIRE_DIFF, &diff);
    for (int64_t i = 0; i < fire_blob_count(owner->blob[blob]); i++)
        diff[i] += sums[i];
    return FIRE_OK;
}

static bool needs_backward(const fire_layer_t *l)
{
    source_t s = source_of(l);

    return l->propagate_down[0] || (s.gain >= 0 && s.l->param_gradient[s.gain]) ||
           (s.shift >= 0 && s.l->param_gradient[s.shift]);
}

/* Get memory of x and y. In place, x's storage moves to s->kept if backward needs
 * it. */
static fire_status_t begin(fire_layer_t *l, void **x, void **y)
{
    norm_simd_t *s = l->kernel_state;

    FIRE_TRY(fire_blob_blocked(l->bottom[0], FIRE_DATA, &s->format));
    FIRE_TRY(fire_channel_norm_fit(&s->norm, fire_blocked_of(&s->format)));
    FIRE_TRY(read_source(l, &s->norm));
    FIRE_IN_AS(l->bottom[0], FIRE_DATA, &s->format, x);
    if (l->top[0] == l->bottom[0] && needs_backward(l)) {
        FIRE_TRY(fire_blob_reshape_like(s->kept, l->bottom[0]));
        FIRE_TRY(
            fire_storage_swap(s->kept->part[FIRE_DATA], l->bottom[0]->part[FIRE_DATA]));
        FIRE_IN_AS(s->kept, FIRE_DATA, &s->format, x);
    }
    FIRE_OUT_AS(l->top[0], FIRE_DATA, &s->format, y);
    return FIRE_OK;
}

static fire_status_t norm_simd_backward(fire_layer_t *l)
{
    norm_simd_t *s     = l->kernel_state;
    source_t     from  = source_of(l);
    bool         moved = l->top[0] == l->bottom[0];
    void        *x, *dy, *dx = NULL;

    if (!needs_backward(l)) return FIRE_OK;
    FIRE_IN_AS(moved ? s->kept : l->bottom[0], FIRE_DATA, &s->format, &x);
    FIRE_IN_AS(l->top[0], FIRE_DIFF, &s->format, &dy);
    if (l->propagate_down[0]) FIRE_OUT_AS(l->bottom[0], FIRE_DIFF, &s->format, &dx);
    fire_channel_norm_backward(&s->norm, fire_blocked_of(&s->format), x, dy, dx);
    if (l->ctx->lean) fire_storage_clear(s->kept->part[FIRE_DATA]);
    FIRE_TRY(add_to(l, from.l, from.gain, s->norm.dgain));
    return add_to(l, from.l, from.shift, s->norm.dshift);
}

/* In place, y overwrites x's blob; the kernel keeps x itself. */
static unsigned norm_simd_backward_reads(const fire_layer_t *l)
{
    return l->top[0] == l->bottom[0] ? FIRE_READS_COPY : FIRE_READS_BOTTOM;
}

/* Compute y again; the statistics are still those of forward. */
static fire_status_t norm_simd_recompute(fire_layer_t *l)
{
    norm_simd_t *s     = l->kernel_state;
    bool         moved = l->top[0] == l->bottom[0];
    void        *x, *y;

    FIRE_IN_AS(moved ? s->kept : l->bottom[0], FIRE_DATA, &s->format, &x);
    FIRE_OUT_AS(l->top[0], FIRE_DATA, &s->format, &y);
    fire_channel_norm_apply(&s->norm, fire_blocked_of(&s->format), x, y);
    return FIRE_OK;
}

/* ---- BatchNorm ---- */

static const char *batch_norm_simd_declines(const fire_layer_t *l)
{
    if (l->ntop > 1) return "the statistics are tops";
    return norm_simd_declines(l);
}

/* A layer that is not in place keeps its own top, whose diff the group would not write:
 * so only where nobody looks at it. */
static bool may_absorb(const fire_layer_t *l, const fire_layer_t *next)
{
    return next->top[0] == l->top[0] && (l->top[0] == l->bottom[0] || l->ctx->lean);
}

static bool batch_norm_simd_absorbs(const fire_layer_t *l, const fire_layer_t *next)
{
    if (!may_absorb(l, next)) return false;
    if (fire_is_sign_relu(next)) return fire_layer_follower(l, "ReLU") == NULL;
    return l->fusion.nfollower == 0 && strcmp(next->ops->type, "Scale") == 0 &&
           !fire_batch_norm_has_gain(l);
}

static fire_status_t batch_norm_simd_forward(fire_layer_t *l)
{
    const fire_batch_norm_t *p = FIRE_STATE(l, fire_batch_norm_t);
    norm_simd_t             *s = l->kernel_state;
    fire_channel_norm_t     *c = &s->norm;
    void                    *x, *y;

    FIRE_TRY(begin(l, &x, &y));
    c->measured = !p->use_global;
    if (p->use_global) {
        FIRE_TRY(fire_batch_norm_read(l, c->mean, c->variance));
        for (int64_t i = 0; i < p->view.dim; i++)
            c->inverse[i] = 1.0f / sqrtf(c->variance[i] + p->eps);
    }
    fire_channel_norm_forward(c, fire_blocked_of(&s->format), p->eps, x, y);
    return p->use_global ? FIRE_OK : fire_batch_norm_update(l, c->mean, c->variance);
}

/* ---- Scale ---- */

static const char *scale_simd_declines(const fire_layer_t *l)
{
    if (l->nbottom > 1) return "the factor is not a parameter";
    if (FIRE_STATE(l, fire_scale_t)->axis != 1 || l->blob[0]->ndim != 1)
        return "needs one factor per channel";
    return norm_simd_declines(l);
}

static bool scale_simd_absorbs(const fire_layer_t *l, const fire_layer_t *next)
{
    return may_absorb(l, next) && l->fusion.nfollower == 0 && fire_is_sign_relu(next);
}

static fire_status_t scale_simd_forward(fire_layer_t *l)
{
    norm_simd_t *s = l->kernel_state;
    void        *x, *y;

    FIRE_TRY(begin(l, &x, &y));
    fire_channel_norm_forward(&s->norm, fire_blocked_of(&s->format), 0, x, y);
    return FIRE_OK;
}

static const fire_fusion_ops_t batch_norm_simd_fusion = {
    .absorbs        = batch_norm_simd_absorbs,
    .backward_reads = norm_simd_backward_reads,
    .recompute      = norm_simd_recompute,
};

const fire_kernel_t fire_batch_norm_simd = {
    .name     = "simd",
    .declines = batch_norm_simd_declines,
    .prepare  = norm_simd_prepare,
    .forward  = batch_norm_simd_forward,
    .backward = norm_simd_backward,
    .release  = norm_simd_release,
    .fusion   = &batch_norm_simd_fusion,
};

static const fire_fusion_ops_t scale_simd_fusion = {
    .absorbs        = scale_simd_absorbs,
    .backward_reads = norm_simd_backward_reads,
    .recompute      = norm_simd_recompute,
};

const fire_kernel_t fire_scale_simd = {
    .name     = "simd",
    .declines = scale_simd_declines,
    .prepare  = norm_simd_prepare,
    .forward  = scale_simd_forward,
    .backward = norm_simd_backward,
    .release  = norm_simd_release,
    .fusion   = &scale_simd_fusion,
};
