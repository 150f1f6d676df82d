/* argmax.c - the top_k largest elements along an axis, or of each item. No gradient.
 *
 *   no axis                 top (num, 1, k): indices
 *   no axis, out_max_val    top (num, 2, k): indices, then values
 *   axis                    top as bottom with k elements along the axis: indices
 *   axis, out_max_val       the same: values */
#include <stdlib.h>
#include <string.h>

#include "layers/shape/move.h"

typedef struct scored {
    float   value;
    int64_t index;
} scored_t;

typedef struct argmax {
    const Caffe__ArgMaxParameter *param; /* NULL: the defaults */
    int64_t                       k;
    int64_t n, step; /* elements compared; distance between them */

    scored_t *order; /* [n] scratch memory for sorting */
} argmax_t;

static bool has_axis(const argmax_t *s)
{
    return s->param != NULL && s->param->has_axis;
}

static bool wants_values(const argmax_t *s)
{
    return s->param != NULL && s->param->out_max_val;
}

/* Top shapes as in the head comment; without an axis at least three, padded with 1. */
static fire_status_t shape_top(fire_layer_t *l, int axis)
{
    const argmax_t    *s    = l->state;
    const fire_blob_t *x    = l->bottom[0];
    int                ndim = x->ndim < 3 ? 3 : x->ndim;
    int64_t            dim[FIRE_MAX_DIMS];

    if (has_axis(s)) {
        memcpy(dim, x->dim, sizeof(dim));
        dim[axis] = s->k;
        return fire_blob_reshape(l->top[0], x->ndim, dim);
    }
    for (int i = 0; i < ndim; i++)
        dim[i] = 1;
    dim[0] = x->dim[0];
    dim[1] = wants_values(s) ? 2 : 1;
    dim[2] = s->k;
    return fire_blob_reshape(l->top[0], ndim, dim);
}

static fire_status_t argmax_reshape(fire_layer_t *l)
{
    argmax_t          *s    = l->state;
    const fire_blob_t *x    = l->bottom[0];
    int                axis = 1;

    s->param = l->param->argmax_param;
    s->k     = s->param != NULL ? s->param->top_k : 1;
    if (x->ndim == 0) return FIRE_FAIL(FIRE_ERR_INVALID, "the bottom has no axes");
    if (has_axis(s)) FIRE_TRY(fire_blob_axis(x, s->param->axis, "argmax_param", &axis));
    s->step = has_axis(s) ? fire_blob_count_range(x, axis + 1, x->ndim) : 1;
    s->n    = has_axis(s) ? x->dim[axis] : fire_blob_count_range(x, 1, x->ndim);
    if (s->k < 1 || s->k > s->n)
        return FIRE_FAIL(FIRE_ERR_INVALID, "top_k %lld of %lld elements",
                         (long long)s->k, (long long)s->n);
    fire_free(s->order);
    s->order = NULL;
    FIRE_TRY(FIRE_NEW(&s->order, s->n));
    return shape_top(l, axis);
}

/* Largest value first; of equal ones the highest index, as in Caffe. */
static int by_rank(const void *a_, const void *b_)
{
    const scored_t *a = a_, *b = b_;

    if (a->value != b->value) return a->value > b->value ? -1 : 1;
    return a->index > b->index ? -1 : a->index < b->index;
}

/* The k best of the n elements that begin at x, in order. */
static void rank(const argmax_t *s, const float *x)
{
    for (int64_t j = 0; j < s->n; j++)
        s->order[j] = (scored_t){x[j * s->step], j};
    qsort(s->order, (size_t)s->n, sizeof(*s->order), by_rank);
}

static fire_status_t argmax_forward(fire_layer_t *l)
{
    const argmax_t *s      = l->state;
    bool            both   = wants_values(s) && !has_axis(s);
    int64_t         groups = fire_blob_count(l->bottom[0]) / s->n;
    int64_t         width  = s->k * s->step * (both ? 2 : 1);
    const float    *x;
    float          *y, *index, *value;

    FIRE_IN(l, l->bottom[0], FIRE_DATA, &x);
    FIRE_OUT(l, l->top[0], FIRE_DATA, &y);
    index = wants_values(s) && !both ? NULL : y;
    value = both ? y + s->k : wants_values(s) ? y : NULL;
    FIRE_IF_GPU(l, fire_gpu_rank(l->ctx->stream,
                                 &(fire_gpu_rank_t){groups, s->n, s->step, s->k, width},
                                 x, index, value));
    for (int64_t i = 0; i < groups; i++) {
        int64_t outer = i / s->step, inner = i % s->step;

        rank(s, x + outer * s->n * s->step + inner);
        for (int64_t j = 0; j < s->k; j++) {
            int64_t to = outer * width + inner + j * s->step;

            if (index != NULL) index[to] = (float)s->order[j].index;
            if (value != NULL) value[to] = s->order[j].value;
        }
    }
    return FIRE_OK;
}

static void argmax_teardown(fire_layer_t *l)
{
    fire_free(FIRE_STATE(l, argmax_t)->order);
}

const fire_kernel_t fire_argmax_cuda = {
    .name    = "cuda",
    .where   = FIRE_GPU,
    .forward = argmax_forward,
};

const fire_kernel_t fire_argmax_ref = {
    .name    = "ref",
    .forward = argmax_forward,
};

static const fire_kernel_t *const argmax_kernels[] = {
    FIRE_IF_CUDA(fire_argmax_cuda) &fire_argmax_ref, NULL};

const fire_layer_ops_t fire_layer_argmax = {
    .type        = "ArgMax",
    .bottoms     = {1, 1},
    .tops        = {1, 1},
    .no_gradient = 1,
    .state_size  = sizeof(argmax_t),
    .reshape     = argmax_reshape,
    .teardown    = argmax_teardown,
    .kernels     = argmax_kernels,
};
