/* norm_cuda.c - BatchNorm, Scale and Bias on the GPU. BatchNorm does a Scale and a ReLU
 * that follow in place in the same pass, Scale a ReLU. */
#include <string.h>

#include "layers/cuda/channel_sum.h"
#include "layers/cuda/kernels.h"
#include "layers/cuda/norm.h"
#include "layers/neuron/relu.h"
#include "layers/norm/batch_norm.h"
#include "layers/norm/scale.h"

/* kept: x, where y takes its place; it is exchanged for it, not copied. memory: mean,
 * inverse and two sums per channel. */
typedef struct norm_cuda {
    fire_gpu_memory_t memory;
    fire_blob_t      *kept;
    fire_format_t     format; /* of x, in the last forward */
} norm_cuda_t;

fire_status_t fire_norm_cuda_prepare(fire_layer_t *l)
{
    norm_cuda_t  *s;
    fire_status_t st;

    if (l->kernel_state != NULL) return FIRE_OK;
    FIRE_TRY(FIRE_NEW(&s, 1));
    FIRE_TRY_GOTO(st, fire_blob_create(&s->kept), err_state);
    l->kernel_state = s;
    return FIRE_OK;

err_state:
    fire_free(s);
    return st;
}

void fire_norm_cuda_release(fire_layer_t *l)
{
    norm_cuda_t *s = l->kernel_state;

    if (s == NULL) return;
    fire_gpu_memory_free(&s->memory);
    fire_blob_destroy(s->kept);
    fire_free(s);
    l->kernel_state = NULL;
}

/* ---- gain and shift ---- */

/* The blobs that hold them, and whether gradients are wanted. */
typedef struct source {
    fire_blob_t *gain, *shift; /* NULL: none */
    bool         gain_gradient, shift_gradient;
    bool         add; /* parameters: gradients add up; a bottom's is overwritten */
} source_t;

static source_t of_scale(const fire_layer_t *l)
{
    int      bias = FIRE_STATE(l, fire_scale_t)->bias;
    source_t s    = {.add = l->nbottom == 1};

    s.gain          = s.add ? l->blob[0] : l->bottom[1];
    s.gain_gradient = s.add ? l->param_gradient[0] : l->propagate_down[1];
    if (bias < 0) return s;
    s.shift          = l->blob[bias];
    s.shift_gradient = l->param_gradient[bias];
    return s;
}

static source_t source_of(const fire_layer_t *l)
{
    const fire_layer_t *scale = fire_layer_follower(l, "Scale");

    if (strcmp(l->ops->type, "Scale") == 0) return of_scale(l);
    if (scale != NULL) return of_scale(scale);
    if (!FIRE_STATE(l, fire_batch_norm_t)->scale_bias) return (source_t){.add = true};
    return (source_t){.gain           = l->blob[FIRE_BATCH_NORM_GAIN],
                      .shift          = l->blob[FIRE_BATCH_NORM_SHIFT],
                      .gain_gradient  = l->param_gradient[FIRE_BATCH_NORM_GAIN],
                      .shift_gradient = l->param_gradient[FIRE_BATCH_NORM_SHIFT],
                      .add            = true};
}

static bool needs_backward(const fire_layer_t *l, const source_t *s)
{
    return l->propagate_down[0] || s->gain_gradient || s->shift_gradient;
}

/* ---- forward and backward of all of them ---- */

/* A Scale may be along other axes than channels, which channels last tears apart. */
static bool is_per_channel(const fire_layer_t *l)
{
    const fire_scale_t *s = FIRE_STATE(l, fire_scale_t);

    return strcmp(l->ops->type, "Scale") != 0 ||
           (s->axis == 1 && source_of(l).gain->ndim == 1);
}

static fire_format_t choose_format(const fire_layer_t *l)
{
    return is_per_channel(l) ? fire_gpu_format(l, l->bottom[0])
                             : FIRE_FORMAT_PLAIN(FIRE_GPU);
}

static fire_status_t describe(fire_layer_t *l, const source_t *from, fire_gpu_norm_t *n)
{
    norm_cuda_t        *s    = l->kernel_state;
    const fire_layer_t *relu = fire_layer_follower(l, "ReLU");
    float              *memory;

    *n = (fire_gpu_norm_t){.view  = fire_gpu_view(l->bottom[0], &s->format),
                           .dtype = s->format.dtype,
                           .relu  = relu != NULL};
    if (!is_per_channel(l)) {
        fire_affine_t a = FIRE_STATE(l, fire_scale_t)->view;

        n->view = (fire_gpu_view_t){a.outer, a.dim, a.inner};
    }
    if (relu != NULL) n->slope = FIRE_STATE(relu, fire_relu_t)->slope;
    FIRE_TRY(fire_gpu_memory_fit(&s->memory,
                                 (size_t)(4 * n->view.channels + 1) * sizeof(float)));
    memory  = s->memory.ptr;
    n->sums = memory + 2 * n->view.channels;
    if (strcmp(l->ops->type, "BatchNorm") == 0) {
        n->mean     = memory;
        n->inverse  = memory + n->view.channels;
        n->measured = !FIRE_STATE(l, fire_batch_norm_t)->use_global;
    }
    if (from->gain != NULL) FIRE_IN(l, from->gain, FIRE_DATA, &n->gain);
    if (from->shift != NULL) FIRE_IN(l, from->shift, FIRE_DATA, &n->shift);
    return FIRE_OK;
}

/* x for reading, y for writing; in place, x is put aside if backward will want it. */
static fire_status_t begin(fire_layer_t *l, const source_t *from, void **x, void **y)
{
    norm_cuda_t *s = l->kernel_state;

    FIRE_IN_AS(l->bottom[0], FIRE_DATA, &s->format, x);
    if (l->top[0] == l->bottom[0] && needs_backward(l, from)) {
        FIRE_TRY(fire_blob_reshape_like(s->kept, l->bottom[0]));
        fire_storage_swap(s->kept->part[FIRE_DATA], l->bottom[0]->part[FIRE_DATA]);
    }
    FIRE_OUT_AS(l->top[0], FIRE_DATA, &s->format, y);
    return FIRE_OK;
}

fire_status_t fire_norm_cuda_backward(fire_layer_t *l)
{
    norm_cuda_t    *s     = l->kernel_state;
    source_t        from  = source_of(l);
    bool            moved = l->top[0] == l->bottom[0];
    float          *dgain = NULL, *dshift = NULL;
    void           *x, *dy, *dx = NULL;
    fire_gpu_norm_t n;

    if (!needs_backward(l, &from)) return FIRE_OK;
    FIRE_TRY(describe(l, &from, &n));
    FIRE_IN_AS(moved ? s->kept : l->bottom[0], FIRE_DATA, &s->format, &x);
    FIRE_IN_AS(l->top[0], FIRE_DIFF, &s->format, &dy);
    if (from.gain_gradient && from.add) FIRE_INOUT(l, from.gain, FIRE_DIFF, &dgain);
    if (from.gain_gradient && !from.add) FIRE_OUT(l, from.gain, FIRE_DIFF, &dgain);
    if (from.shift_gradient) FIRE_INOUT(l, from.shift, FIRE_DIFF, &dshift);
    if (l->propagate_down[0]) FIRE_OUT_AS(l->bottom[0], FIRE_DIFF, &s->format, &dx);
    return fire_gpu_norm_backward(l->ctx->stream, &n, x, dy, from.add, dgain, dshift,
                                  dx);
}

static bool absorbs_relu(const fire_layer_t *next)
{
    return strcmp(next->ops->type, "ReLU") == 0 &&
           FIRE_STATE(next, fire_relu_t)->slope >= 0;
}

/* With a top of its own, the top's diff would not be what the follower leaves there. */
static bool may_absorb(const fire_layer_t *l)
{
    return l->top[0] == l->bottom[0] || l->ctx->lean;
}

/* ---- BatchNorm ---- */

bool fire_batch_norm_cuda_absorbs(const fire_layer_t *l, const fire_layer_t *next)
{
    if (!may_absorb(l)) return false;
    if (absorbs_relu(next)) return fire_layer_follower(l, "ReLU") == NULL;
    return l->nfollower == 0 && strcmp(next->ops->type, "Scale") == 0 &&
           next->nbottom == 1 && is_per_channel(next) &&
           !FIRE_STATE(l, fire_batch_norm_t)->scale_bias;
}

static fire_status_t statistics(fire_layer_t *l, bool write, fire_gpu_statistics_t *st)
{
    fire_part_t   part   = write && l->moment->defer_stats ? FIRE_DIFF : FIRE_DATA;
    fire_format_t plain  = FIRE_FORMAT_PLAIN(FIRE_GPU);
    fire_access_t access = write ? FIRE_UPDATE : FIRE_READ;
    void         *ptr[3];

    for (int i = 0; i < 3; i++)
        FIRE_TRY(fire_blob_access(l->blob[i], part, access, &plain, &ptr[i]));
    *st = (fire_gpu_statistics_t){ptr[0], ptr[1], ptr[2], l->stat_decay};
    return FIRE_OK;
}

fire_status_t fire_batch_norm_cuda_forward(fire_layer_t *l)
{
    const fire_batch_norm_t *p    = FIRE_STATE(l, fire_batch_norm_t);
    norm_cuda_t             *s    = l->kernel_state;
    source_t                 from = source_of(l);
    fire_gpu_statistics_t    st;
    fire_gpu_norm_t          n;
    void                    *x, *y;

    if (fire_blob_count(l->bottom[0]) == 0) return FIRE_OK;
    s->format = choose_format(l);
    FIRE_TRY(describe(l, &from, &n));
    FIRE_TRY(begin(l, &from, &x, &y));
    FIRE_TRY(statistics(l, !p->use_global, &st));
    FIRE_TRY(p->use_global ? fire_gpu_norm_recall(l->ctx->stream, &n, p->eps, &st)
                           : fire_gpu_norm_measure(l->ctx->stream, &n, p->eps, x, &st));
    return fire_gpu_norm_forward(l->ctx->stream, &n, x, y);
}

/* ---- Scale ---- */

bool fire_scale_cuda_absorbs(const fire_layer_t *l, const fire_layer_t *next)
{
    return may_absorb(l) && l->nfollower == 0 && absorbs_relu(next);
}

fire_status_t fire_scale_cuda_forward(fire_layer_t *l)
{
    norm_cuda_t    *s    = l->kernel_state;
    source_t        from = source_of(l);
    fire_gpu_norm_t n;
    void           *x, *y;

    if (fire_blob_count(l->bottom[0]) == 0) return FIRE_OK;
    s->format = choose_format(l);
    FIRE_TRY(describe(l, &from, &n));
    FIRE_TRY(begin(l, &from, &x, &y));
    return fire_gpu_norm_forward(l->ctx->stream, &n, x, y);
}

/* ---- Bias ---- */

static fire_gpu_view_t bias_view(const fire_layer_t *l)
{
    fire_affine_t a = FIRE_STATE(l, fire_bias_t)->view;

    return (fire_gpu_view_t){a.outer, a.dim, a.inner};
}

fire_status_t fire_bias_cuda_forward(fire_layer_t *l)
{
    const float *x, *b;
    float       *y;

    FIRE_IN(l, l->bottom[0], FIRE_DATA, &x);
    FIRE_IN(l, l->nbottom > 1 ? l->bottom[1] : l->blob[0], FIRE_DATA, &b);
    FIRE_OUT(l, l->top[0], FIRE_DATA, &y);
    return fire_gpu_channel_add(l->ctx->stream, bias_view(l), FIRE_F32, x, b, y);
}

fire_status_t fire_bias_cuda_backward(fire_layer_t *l)
{
    bool         param = l->nbottom == 1;
    const float *dy;
    float       *db;

    if (l->propagate_down[0])
        FIRE_TRY(fire_blob_copy(l->bottom[0], l->top[0], FIRE_DIFF));
    if (param ? !l->param_gradient[0] : !l->propagate_down[1]) return FIRE_OK;
    FIRE_IN(l, l->top[0], FIRE_DIFF, &dy);
    if (param)
        FIRE_INOUT(l, l->blob[0], FIRE_DIFF, &db);
    else
        FIRE_OUT(l, l->bottom[1], FIRE_DIFF, &db);
    return fire_gpu_channel_sum(l->ctx->stream, bias_view(l), FIRE_F32, dy, param, db);
}
