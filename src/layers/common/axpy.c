/* axpy.c - y = a x + b, where a has one number per channel of each item: the end of a
 * block of SENet (Hu et al. 2017).
 *
 *   bottoms  a (num, channels), x (num, channels, ...), b like x
 *   top      y like x */
#include "device/cpu/blas.h"
#include "layers/common/sums.h"

typedef struct axpy {
    int64_t planes, n; /* planes: num * channels; n: elements of one */
} axpy_t;

static fire_status_t axpy_reshape(fire_layer_t *l)
{
    axpy_t            *s = l->state;
    const fire_blob_t *a = l->bottom[0], *x = l->bottom[1];
    char               got[FIRE_SHAPE_TEXT], want[FIRE_SHAPE_TEXT];

    if (!fire_blob_same_shape(x, l->bottom[2]) || x->ndim < 2)
        return FIRE_FAIL(
            FIRE_ERR_INVALID,
            "bottom 1 is %s, bottom 2 is %s: both must have one shape with "
            "channels",
            fire_blob_shape_string(x, want, sizeof(want)),
            fire_blob_shape_string(l->bottom[2], got, sizeof(got)));
    s->planes = x->dim[0] * x->dim[1];
    s->n      = fire_blob_count_range(x, 2, x->ndim);
    if (a->ndim < 2 || a->dim[0] != x->dim[0] || a->dim[1] != x->dim[1] ||
        a->count != s->planes)
        return FIRE_FAIL(
            FIRE_ERR_INVALID,
            "bottom 0 is %s: it must have one value for each channel of %s",
            fire_blob_shape_string(a, got, sizeof(got)),
            fire_blob_shape_string(x, want, sizeof(want)));
    return fire_blob_reshape_like(l->top[0], x);
}

static fire_status_t axpy_forward(fire_layer_t *l)
{
    const axpy_t *s = l->state;
    const float  *a, *x, *b;
    float        *y;

    FIRE_IN(l, l->bottom[0], FIRE_DATA, &a);
    FIRE_IN(l, l->bottom[1], FIRE_DATA, &x);
    FIRE_IN(l, l->bottom[2], FIRE_DATA, &b);
    FIRE_OUT(l, l->top[0], FIRE_DATA, &y);
    FIRE_IF_GPU(l, fire_gpu_axpy(l->ctx->stream, s->planes, s->n, a, x, b, y));
    fire_copy(s->planes * s->n, b, y);
    for (int64_t p = 0; p < s->planes; p++)
        fire_axpy(s->n, a[p], x + p * s->n, y + p * s->n);
    return FIRE_OK;
}

static fire_status_t backward_a(fire_layer_t *l, const float *dy)
{
    const axpy_t *s = l->state;
    const float  *x;
    float        *da;

    FIRE_IN(l, l->bottom[1], FIRE_DATA, &x);
    FIRE_OUT(l, l->bottom[0], FIRE_DIFF, &da);
    FIRE_IF_GPU(l, fire_gpu_axpy_da(l->ctx->stream, s->planes, s->n, x, dy, da));
    for (int64_t p = 0; p < s->planes; p++)
        da[p] = fire_dot(s->n, dy + p * s->n, x + p * s->n);
    return FIRE_OK;
}

static fire_status_t backward_x(fire_layer_t *l, const float *dy)
{
    const axpy_t *s = l->state;
    const float  *a;
    float        *dx;

    FIRE_IN(l, l->bottom[0], FIRE_DATA, &a);
    FIRE_OUT(l, l->bottom[1], FIRE_DIFF, &dx);
    FIRE_IF_GPU(l, fire_gpu_axpy_dx(l->ctx->stream, s->planes, s->n, a, dy, dx));
    for (int64_t p = 0; p < s->planes; p++)
        for (int64_t i = p * s->n; i < (p + 1) * s->n; i++)
            dx[i] = a[p] * dy[i];
    return FIRE_OK;
}

static fire_status_t axpy_backward(fire_layer_t *l)
{
    const float *dy;

    FIRE_IN(l, l->top[0], FIRE_DIFF, &dy);
    if (l->propagate_down[0]) FIRE_TRY(backward_a(l, dy));
    if (l->propagate_down[1]) FIRE_TRY(backward_x(l, dy));
    return l->propagate_down[2] ? fire_blob_copy(l->bottom[2], l->top[0], FIRE_DIFF)
                                : FIRE_OK;
}

const fire_kernel_t fire_axpy_cuda = {
    .name     = "cuda",
    .where    = FIRE_GPU,
    .forward  = axpy_forward,
    .backward = axpy_backward,
};

const fire_kernel_t fire_axpy_ref = {
    .name     = "ref",
    .forward  = axpy_forward,
    .backward = axpy_backward,
};

static const fire_kernel_t *const axpy_kernels[] = {
    FIRE_IF_CUDA(fire_axpy_cuda) &fire_axpy_ref, NULL};

const fire_layer_ops_t fire_layer_axpy = {
    .type       = "Axpy",
    .bottoms    = {3, 3},
    .tops       = {1, 1},
    .state_size = sizeof(axpy_t),
    .reshape    = axpy_reshape,
    .kernels    = axpy_kernels,
};
