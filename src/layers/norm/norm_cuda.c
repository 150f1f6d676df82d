/* norm_cuda.c - BatchNorm, Scale and Bias on the GPU. BatchNorm absorbs a Scale and a
 * ReLU that follow in place, Scale absorbs a ReLU; at the end of a residual branch
 * BatchNorm absorbs the sum, too, and backward adds the gradients of the sum's readers
 * (norm_group.h). */
#include <string.h>

#include "device/cuda/kernel/channel_sum.h"
#include "layers/layer_cuda.h"
#include "layers/norm/norm.h"
#include "layers/norm/norm_group.h"
#include "layers/activation/relu.h"
#include "layers/norm/batch_norm.h"
#include "layers/norm/scale.h"

/* memory: mean, inverse and two sums, (4, channels). mask: of a sum's ReLU, see norm.h.
 * kept: x for backward, where y overwrites its blob; its storage is swapped, not
 * copied. */
typedef struct norm_cuda {
    fire_gpu_memory_t memory, mask;
    fire_blob_t      *kept;
    fire_format_t     format; /* of x, in the last forward */
} norm_cuda_t;

static fire_status_t norm_cuda_prepare(fire_layer_t *l)
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

static void norm_cuda_release(fire_layer_t *l)
{
    norm_cuda_t *s = l->kernel_state;

    if (s == NULL) return;
    fire_gpu_memory_free(&s->memory);
    fire_gpu_memory_free(&s->mask);
    fire_blob_destroy(s->kept);
    fire_free(s);
    l->kernel_state = NULL;
}

/* Does anything need a gradient? */
static bool needs_backward(const fire_layer_t *l, const fire_norm_group_t *g)
{
    return l->propagate_down[0] || g->gain_gradient || g->shift_gradient ||
           g->sum != NULL;
}

/* ---- forward and backward of BatchNorm and Scale ---- */

static fire_status_t describe(fire_layer_t *l, const fire_norm_group_t *g,
                              fire_gpu_norm_t *n)
{
    norm_cuda_t *s = l->kernel_state;
    float       *memory;

    *n = (fire_gpu_norm_t){.view  = fire_gpu_view(l->bottom[0], &s->format),
                           .dtype = s->format.dtype,
                           .relu  = g->relu != NULL};
    if (!g->per_channel) {
        fire_affine_t a = FIRE_STATE(l, fire_scale_t)->view;

        n->view = (fire_gpu_view_t){a.outer, a.dim, a.inner};
    }
    if (s->format.layout == FIRE_NHWC) {
        n->height    = l->bottom[0]->dim[2];
        n->width     = l->bottom[0]->dim[3];
        n->even_only = l->fusion.even_only;
    }
    if (g->relu != NULL) n->slope = FIRE_STATE(g->relu, fire_relu_t)->slope;
    FIRE_TRY(fire_gpu_memory_fit(&s->memory,
                                 (size_t)(4 * n->view.channels + 1) * sizeof(float)));
    memory  = s->memory.ptr;
    n->sums = memory + 2 * n->view.channels;
    if (fire_is_batch_norm(l)) {
        n->mean     = memory;
        n->inverse  = memory + n->view.channels;
        n->measured = !FIRE_STATE(l, fire_batch_norm_t)->use_global;
    }
    if (g->sum != NULL && g->relu != NULL) {
        size_t count = (size_t)fire_blob_count(l->bottom[0]);

        FIRE_TRY(fire_gpu_memory_fit(&s->mask, count / fire_gpu_norm_vector(n)));
        n->mask = s->mask.ptr;
    }
    if (g->gain != NULL) FIRE_IN(l, g->gain, FIRE_DATA, &n->gain);
    if (g->shift != NULL) FIRE_IN(l, g->shift, FIRE_DATA, &n->shift);
    return FIRE_OK;
}

/* Where values are read and written. */
typedef struct places {
    void *x, *other, *y;
} places_t;

/* Get memory of x, other and y. In place, x's storage moves to s->kept if backward
 * needs it. */
static fire_status_t begin(fire_layer_t *l, const fire_norm_group_t *g, places_t *p)
{
    norm_cuda_t  *s    = l->kernel_state;
    fire_format_t even = fire_gpu_format_even(s->format);

    *p = (places_t){0};
    FIRE_IN_AS(l->bottom[0], FIRE_DATA, &s->format, &p->x);
    if (g->sum != NULL)
        FIRE_IN_AS(g->sum->bottom[g->other], FIRE_DATA, &s->format, &p->other);
    if (g->in_place && needs_backward(l, g)) {
        FIRE_TRY(fire_blob_reshape_like(s->kept, l->bottom[0]));
        FIRE_TRY(
            fire_storage_swap(s->kept->part[FIRE_DATA], l->bottom[0]->part[FIRE_DATA]));
        FIRE_IN_AS(s->kept, FIRE_DATA, &s->format, &p->x);
    }
    FIRE_OUT_AS(g->out, FIRE_DATA, l->fusion.even_only ? &even : &s->format, &p->y);
    for (int i = 0; g->split != NULL && i < g->split->ntop; i++)
        fire_blob_share(g->split->top[i], g->out, FIRE_DATA);
    return FIRE_OK;
}

/* Where memory is short, let `to` take over the memory of `from`, which is not read
 * again. */
static fire_status_t reuse_memory(const fire_layer_t *l, fire_storage_t *from,
                                  fire_storage_t *to)
{
    if (fire_gpu_saves_memory(l) && from != to && !fire_storage_is_shared(from) &&
        !fire_storage_is_shared(to))
        return fire_storage_swap(from, to);
    return FIRE_OK;
}

/* The gradient that a reader of the sum gives, as it is stored. */
static fire_status_t reader_gradient(fire_blob_t *b, const fire_format_t *f,
                                     const void **dy_p, bool *even_only_p)
{
    fire_format_t even = fire_gpu_format_even(*f);

    *even_only_p = fire_storage_has(b->part[FIRE_DIFF], &even);
    FIRE_IN_AS(b, FIRE_DIFF, *even_only_p ? &even : f, dy_p);
    return FIRE_OK;
}

/* Gradients of the sum's readers; and g, which becomes the diff of the other branch's
 * blob and reuses the memory of a gradient of the same format. */
static fire_status_t sum_gradients(const fire_layer_t *l, const fire_norm_group_t *g,
                                   fire_gpu_norm_sum_t *sum)
{
    fire_format_t f         = ((const norm_cuda_t *)l->kernel_state)->format;
    fire_blob_t  *to        = g->out;
    fire_blob_t  *reader[2] = {g->out, NULL};
    bool          even_only;

    *sum = (fire_gpu_norm_sum_t){0};
    for (int i = 0; i < 2; i++) {
        if (g->split != NULL) reader[i] = g->split->top[i];
        if (reader[i] != NULL)
            FIRE_TRY(reader_gradient(reader[i], &f, &sum->dy[i], &sum->even_only[i]));
    }
    even_only = fire_gpu_norm_sum_is_even(sum);
    if (even_only) f = fire_gpu_format_even(f);
    if (g->sum->propagate_down[g->other]) {
        to = g->sum->bottom[g->other];
        FIRE_TRY(reuse_memory(
            l, reader[sum->even_only[0] == even_only ? 0 : 1]->part[FIRE_DIFF],
            to->part[FIRE_DIFF]));
    }
    FIRE_OUT_AS(to, FIRE_DIFF, &f, &sum->g);
    return FIRE_OK;
}

/* Memory for dx; at the end of a residual branch that of x, which no other layer
 * reads. */
static fire_status_t input_gradient_memory(const fire_layer_t      *l,
                                           const fire_norm_group_t *g, void **dx_p)
{
    fire_blob_t *b = l->bottom[0];

    if (g->sum != NULL && b == l->top[0])
        FIRE_TRY(reuse_memory(l, b->part[FIRE_DATA], b->part[FIRE_DIFF]));
    FIRE_OUT_AS(b, FIRE_DIFF, &((const norm_cuda_t *)l->kernel_state)->format, dx_p);
    return FIRE_OK;
}

/* Where to store gradients of gain and shift: added to parameters' diffs; the diff of a
 * gain that is a bottom is overwritten. */
static fire_status_t find_gradients(const fire_layer_t *l, const fire_norm_group_t *g,
                                    fire_gpu_norm_to_t *to)
{
    if (g->gain_gradient && g->gain_is_bottom)
        FIRE_OUT(l, g->gain, FIRE_DIFF, &to->dgain);
    else if (g->gain_gradient)
        FIRE_TRY(fire_gpu_gradient(g->gain, &to->add_gain, &to->dgain));
    if (g->shift_gradient)
        FIRE_TRY(fire_gpu_gradient(g->shift, &to->add_shift, &to->dshift));
    return FIRE_OK;
}

static fire_status_t norm_cuda_backward(fire_layer_t *l)
{
    norm_cuda_t        *s  = l->kernel_state;
    fire_norm_group_t   g  = fire_norm_group(l);
    fire_gpu_norm_to_t  to = {0};
    fire_gpu_norm_sum_t sum;
    fire_gpu_norm_t     n;
    void               *x, *dy;

    if (!needs_backward(l, &g)) return FIRE_OK;
    FIRE_TRY(describe(l, &g, &n));
    FIRE_IN_AS(g.in_place ? s->kept : l->bottom[0], FIRE_DATA, &s->format, &x);
    if (g.sum != NULL)
        FIRE_TRY(sum_gradients(l, &g, &sum));
    else
        FIRE_IN_AS(l->top[0], FIRE_DIFF, &s->format, &dy);
    FIRE_TRY(find_gradients(l, &g, &to));
    if (l->propagate_down[0]) FIRE_TRY(input_gradient_memory(l, &g, &to.dx));
    FIRE_TRY(g.sum != NULL
                 ? fire_gpu_norm_branch_backward(l->ctx->stream, &n, x, &sum, &to)
                 : fire_gpu_norm_backward(l->ctx->stream, &n, x, dy, &to));
    if (fire_pool_on(l->ctx->pool, FIRE_GPU) != NULL)
        fire_storage_clear(s->kept->part[FIRE_DATA]);
    return FIRE_OK;
}

/* ---- BatchNorm ---- */

/* Addresses of the running statistics, NULL for those that the layer lacks; where
 * several lanes contribute to one update, their sums are collected in the diffs. */
static fire_status_t statistics(fire_layer_t *l, bool write, fire_gpu_statistics_t *st)
{
    const fire_batch_norm_t *s = FIRE_STATE(l, fire_batch_norm_t);
    fire_part_t   part   = write && l->moment->defer_stats ? FIRE_DIFF : FIRE_DATA;
    fire_format_t plain  = FIRE_FORMAT_PLAIN(FIRE_GPU);
    fire_access_t access = write ? FIRE_UPDATE : FIRE_READ;
    int           at[]   = {s->at.mean, s->at.variance, s->at.weight};
    void         *ptr[3] = {NULL};

    for (int i = 0; i < 3; i++)
        if (at[i] >= 0)
            FIRE_TRY(fire_blob_access(l->blob[at[i]], part, access, &plain, &ptr[i]));
    *st = (fire_gpu_statistics_t){ptr[0],        ptr[1],   ptr[2],
                                  l->stat_decay, s->share, s->unbiased};
    return FIRE_OK;
}

/* mean and inverse of this pass: from the batch, or from the running statistics. */
static fire_status_t measure(fire_layer_t *l, const fire_gpu_norm_t *n, const void *x)
{
    const fire_batch_norm_t *p = FIRE_STATE(l, fire_batch_norm_t);
    fire_gpu_statistics_t    st;

    FIRE_TRY(statistics(l, !p->use_global, &st));
    return p->use_global ? fire_gpu_norm_recall(l->ctx->stream, n, p->eps, &st)
                         : fire_gpu_norm_measure(l->ctx->stream, n, p->eps, x, &st);
}

/* The BatchNorm of the other branch that this one computes for its sum, if there is
 * one. */
static fire_status_t find_lender(const fire_layer_t *l, fire_gpu_norm_t *n,
                                 bool *lent_p)
{
    fire_layer_t     *from = l->fusion.lender;
    fire_norm_group_t g;

    *lent_p = from != NULL;
    if (from == NULL) return FIRE_OK;
    g = fire_norm_group(from);
    return describe(from, &g, n);
}

static fire_status_t batch_norm_cuda_forward(fire_layer_t *l)
{
    norm_cuda_t      *s = l->kernel_state;
    fire_norm_group_t g = fire_norm_group(l);
    fire_gpu_norm_t   n, by;
    bool              lent;
    places_t          at;

    if (fire_blob_count(l->bottom[0]) == 0) return FIRE_OK;
    s->format = fire_gpu_format(l, l->bottom[0]);
    FIRE_TRY(describe(l, &g, &n));
    if (l->fusion.borrower != NULL) {
        FIRE_IN_AS(l->bottom[0], FIRE_DATA, &s->format, &at.x);
        return measure(l, &n, at.x);
    }
    FIRE_TRY(begin(l, &g, &at));
    FIRE_TRY(measure(l, &n, at.x));
    FIRE_TRY(find_lender(l, &by, &lent));
    return fire_gpu_norm_forward(l->ctx->stream, &n, at.x, at.other, lent ? &by : NULL,
                                 at.y);
}

/* ---- Scale ---- */

static fire_status_t scale_cuda_forward(fire_layer_t *l)
{
    norm_cuda_t      *s = l->kernel_state;
    fire_norm_group_t g = fire_norm_group(l);
    fire_gpu_norm_t   n;
    places_t          at;

    if (fire_blob_count(l->bottom[0]) == 0) return FIRE_OK;
    s->format =
        g.per_channel ? fire_gpu_format(l, l->bottom[0]) : FIRE_FORMAT_PLAIN(FIRE_GPU);
    FIRE_TRY(describe(l, &g, &n));
    FIRE_TRY(begin(l, &g, &at));
    return fire_gpu_norm_forward(l->ctx->stream, &n, at.x, NULL, NULL, at.y);
}

/* ---- Bias ---- */

static fire_gpu_view_t bias_view(const fire_layer_t *l)
{
    fire_affine_t a = FIRE_STATE(l, fire_bias_t)->view;

    return (fire_gpu_view_t){a.outer, a.dim, a.inner};
}

static fire_status_t bias_cuda_forward(fire_layer_t *l)
{
    const float *x, *b;
    float       *y;

    FIRE_IN(l, l->bottom[0], FIRE_DATA, &x);
    FIRE_IN(l, l->nbottom > 1 ? l->bottom[1] : l->blob[0], FIRE_DATA, &b);
    FIRE_OUT(l, l->top[0], FIRE_DATA, &y);
    return fire_gpu_channel_add(l->ctx->stream, bias_view(l), FIRE_F32, x, b, y);
}

static fire_status_t bias_cuda_backward(fire_layer_t *l)
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

static const char *batch_norm_cuda_declines(const fire_layer_t *l)
{
    return l->ntop > 1 ? "the statistics are tops" : NULL;
}

static const fire_fusion_ops_t batch_norm_cuda_fusion = {
    .absorbs        = fire_batch_norm_cuda_absorbs,
    .absorbs_join   = fire_norm_cuda_absorbs_join,
    .borrows        = fire_norm_cuda_borrows,
    .writes_even    = fire_norm_cuda_writes_even,
    .backward_reads = fire_norm_cuda_backward_reads,
};

const fire_kernel_t fire_batch_norm_cuda = {
    .name     = "cuda",
    .where    = FIRE_GPU,
    .declines = batch_norm_cuda_declines,
    .prepare  = norm_cuda_prepare,
    .forward  = batch_norm_cuda_forward,
    .backward = norm_cuda_backward,
    .release  = norm_cuda_release,
    .fusion   = &batch_norm_cuda_fusion,
};

static const fire_fusion_ops_t scale_cuda_fusion = {
    .absorbs        = fire_scale_cuda_absorbs,
    .absorbs_join   = fire_norm_cuda_absorbs_join,
    .borrows        = fire_norm_cuda_borrows,
    .writes_even    = fire_norm_cuda_writes_even,
    .backward_reads = fire_norm_cuda_backward_reads,
};

const fire_kernel_t fire_scale_cuda = {
    .name     = "cuda",
    .where    = FIRE_GPU,
    .prepare  = norm_cuda_prepare,
    .forward  = scale_cuda_forward,
    .backward = norm_cuda_backward,
    .release  = norm_cuda_release,
    .fusion   = &scale_cuda_fusion,
};

const fire_kernel_t fire_bias_cuda = {
    .name     = "cuda",
    .where    = FIRE_GPU,
    .forward  = bias_cuda_forward,
    .backward = bias_cuda_backward,
};
