/* reduction.c - reduces the axes from `axis` on to one number: coeff times their sum,
 * sum of absolute values (ASUM), sum of squares (SUMSQ) or mean.
 *
 *   x (rows, n)   y (rows) */
#include "device/cpu/blas.h"
#include "layers/common/sums.h"
#include "layers/scalar.h"

#define OP(name) CAFFE__REDUCTION_PARAMETER__REDUCTION_OP__##name

typedef struct reduction {
    Caffe__ReductionParameter__ReductionOp op;

    float          coeff; /* for MEAN divided by n */
    int64_t        rows, n;
    fire_scratch_t ones;
} reduction_t;

static fire_status_t reduction_reshape(fire_layer_t *l)
{
    const Caffe__ReductionParameter *p =
        FIRE_PARAM(l, reduction_param, CAFFE__REDUCTION_PARAMETER__INIT);
    const fire_blob_t *x = l->bottom[0];
    reduction_t       *s = l->state;
    int                axis;

    FIRE_TRY(fire_blob_axis(x, p->axis, "reduction_param", &axis));
    s->op    = p->operation;
    s->rows  = fire_blob_count_range(x, 0, axis);
    s->n     = fire_blob_count_range(x, axis, x->ndim);
    s->coeff = p->coeff;
    if (s->op == OP(MEAN)) s->coeff /= (float)s->n;
    if (s->op == OP(SUM) || s->op == OP(MEAN))
        FIRE_TRY(fire_scratch_ones(&s->ones, s->n));
    return fire_blob_reshape(l->top[0], axis, x->dim);
}

static fire_status_t reduction_forward(fire_layer_t *l)
{
    const reduction_t *s = l->state;
    const float       *x;
    float             *y;

    FIRE_IN(l, l->bottom[0], FIRE_DATA, &x);
    FIRE_OUT(l, l->top[0], FIRE_DATA, &y);
    FIRE_IF_GPU(l,
                fire_gpu_reduce(l->ctx->stream, s->op, s->coeff, s->rows, s->n, x, y));
    for (int64_t i = 0; i < s->rows; i++, x += s->n) {
        if (s->op == OP(ASUM))
            y[i] = fire_asum(s->n, x);
        else
            y[i] = fire_dot(s->n, s->op == OP(SUMSQ) ? x : s->ones.x, x);
        y[i] *= s->coeff;
    }
    return FIRE_OK;
}

static fire_status_t reduction_backward(fire_layer_t *l)
{
    const reduction_t *s = l->state;
    const float       *x, *dy;
    float             *dx;

    if (!l->propagate_down[0]) return FIRE_OK;
    FIRE_IN(l, l->bottom[0], FIRE_DATA, &x);
    FIRE_IN(l, l->top[0], FIRE_DIFF, &dy);
    FIRE_OUT(l, l->bottom[0], FIRE_DIFF, &dx);
    FIRE_IF_GPU(l, fire_gpu_reduce_back(l->ctx->stream, s->op, s->coeff, s->rows, s->n,
                                        x, dy, dx));
    for (int64_t i = 0; i < s->rows; i++, x += s->n, dx += s->n) {
        float g = dy[i] * s->coeff;

        for (int64_t j = 0; j < s->n; j++)
            dx[j] = s->op == OP(ASUM)    ? fire_sign(x[j]) * g
                    : s->op == OP(SUMSQ) ? x[j] * (2.0f * g)
                                         : g;
    }
    return FIRE_OK;
}

static void reduction_teardown(fire_layer_t *l)
{
    fire_scratch_free(&FIRE_STATE(l, reduction_t)->ones);
}

const fire_kernel_t fire_reduction_cuda = {
    .name     = "cuda",
    .where    = FIRE_GPU,
    .forward  = reduction_forward,
    .backward = reduction_backward,
};

const fire_kernel_t fire_reduction_ref = {
    .name     = "ref",
    .forward  = reduction_forward,
    .backward = reduction_backward,
};

static const fire_kernel_t *const reduction_kernels[] = {
    FIRE_IF_CUDA(fire_reduction_cuda) &fire_reduction_ref, NULL};

const fire_layer_ops_t fire_layer_reduction = {
    .type       = "Reduction",
    .bottoms    = {1, 1},
    .tops       = {1, 1},
    .state_size = sizeof(reduction_t),
    .reshape    = reduction_reshape,
    .teardown   = reduction_teardown,
    .kernels    = reduction_kernels,
};
