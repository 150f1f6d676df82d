/* correlation.c - Correlation (FlowNet, Dosovitskiy et al. 2015): how alike each patch
 * of one image and displaced patches of another are, a channel per displacement.
 *
 *   bottom 0, 1: (N, C, H, W)
 *   top 0:       (N, D, H', W')   D = (2 (max_displacement / stride_2) + 1)^2
 *
 * y = sum over kernel and channels of a(p) b(p + displacement) / (kernel^2 C), or with
 * SUBTRACT of |a - b|; both images are padded with zeros. H' and W' are the places, every
 * stride_1, from which the kernel and all displacements stay inside. */
#include "layers/flow/correlation.h"

#include "device/cpu/parallel.h"

static fire_status_t check(const Caffe__CorrelationParameter *p)
{
    if (p == NULL || !p->has_kernel_size || !p->has_max_displacement)
        return FIRE_FAIL(
            FIRE_ERR_INVALID,
            "correlation_param { kernel_size max_displacement } must be given");
    if (p->kernel_size % 2 == 0 || p->kernel_size > INT16_MAX ||
        p->max_displacement > INT16_MAX || p->pad > INT16_MAX)
        return FIRE_FAIL(
            FIRE_ERR_INVALID,
            "kernel_size %u must be odd; it, max_displacement %u and pad %u "
            "must be at most %d",
            p->kernel_size, p->max_displacement, p->pad, INT16_MAX);
    if (p->stride_1 == 0 || p->stride_2 == 0)
        return FIRE_FAIL(FIRE_ERR_INVALID, "stride_1 and stride_2 must be at least 1");
    if (p->do_abs)
        return FIRE_FAIL(FIRE_ERR_UNSUPPORTED,
                         "do_abs has no effect in FlowNet2 and is refused here; put an "
                         "AbsVal layer behind");
    return FIRE_OK;
}

fire_status_t fire_correlation_setup(fire_layer_t *l, bool one_axis)
{
    const Caffe__CorrelationParameter *p = l->param->correlation_param;
    fire_correlation_t                *s = FIRE_STATE(l, fire_correlation_t);
    int64_t                            radius;

    FIRE_TRY(check(p));
    radius      = p->max_displacement / p->stride_2;
    s->kernel   = p->kernel_size;
    s->pad[0]   = one_axis ? 0 : p->pad;
    s->pad[1]   = p->pad;
    s->reach[0] = one_axis ? 0 : p->max_displacement;
    s->reach[1] = p->max_displacement;
    s->stride1  = p->stride_1;
    s->stride2  = p->stride_2;
    s->subtract =
        p->correlation_type == CAFFE__CORRELATION_PARAMETER__CORRELATION_TYPE__SUBTRACT;
    s->grid[0]  = one_axis ? 1 : 2 * radius + 1;
    s->least[0] = one_axis ? 0 : -radius;
    s->grid[1]  = 2 * radius + 1;
    s->least[1] = -radius;
    if (one_axis && p->single_direction != 0) {
        s->grid[1]  = radius + 1;
        s->least[1] = p->single_direction < 0 ? -radius : 0;
    }
    return FIRE_OK;
}

static fire_status_t correlation_setup(fire_layer_t *l)
{
    return fire_correlation_setup(l, false);
}

fire_status_t fire_correlation_reshape(fire_layer_t *l)
{
    fire_correlation_t *s = FIRE_STATE(l, fire_correlation_t);
    const fire_blob_t  *a = l->bottom[0];

    if (a->ndim != 4 || !fire_blob_same_shape(a, l->bottom[1]))
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "both bottoms must have one shape of 4 axes (num, channels, "
                         "height, width)");
    s->channels = a->dim[1];
    for (int i = 0; i < 2; i++) {
        int64_t lost = s->reach[i] + (s->kernel - 1) / 2;
        int64_t room = a->dim[2 + i] + 2 * s->pad[i] - 2 * lost;

        s->in[i]  = a->dim[2 + i];
        s->out[i] = (room + s->stride1 - 1) / s->stride1;
        if (room < 1)
            return FIRE_FAIL(FIRE_ERR_INVALID,
                             "kernel and displacements need %lld places on each side, "
                             "the %s is %lld + 2 * %lld of padding",
                             (long long)lost, i == 0 ? "height" : "width",
                             (long long)s->in[i], (long long)s->pad[i]);
    }
    return fire_blob_reshape(
        l->top[0], 4,
        (int64_t[]){a->dim[0], s->grid[0] * s->grid[1], s->out[0], s->out[1]});
}

static fire_status_t correlation_forward(fire_layer_t *l)
{
    const fire_correlation_t *s     = FIRE_STATE(l, fire_correlation_t);
    int64_t                   items = l->bottom[0]->dim[0];
    int64_t                   n     = fire_blob_count_range(l->top[0], 1, 4);
    int64_t                   dim   = s->channels * s->in[0] * s->in[1];
    const float              *a, *b;
    float                    *y;

    FIRE_IN(l, l->bottom[0], FIRE_DATA, &a);
    FIRE_IN(l, l->bottom[1], FIRE_DATA, &b);
    FIRE_OUT(l, l->top[0], FIRE_DATA, &y);
    FIRE_IF_GPU(l, fire_gpu_correlation(l->ctx->stream, s, items, a, b, y));
    FIRE_PARALLEL(i, items * n, items * n * s->channels > FIRE_GRAIN)
    y[i] = fire_corr_value(s, a + i / n * dim, b + i / n * dim, i % n);
    return FIRE_OK;
}

static fire_status_t backward_to(fire_layer_t *l, int bottom)
{
    const fire_correlation_t *s     = FIRE_STATE(l, fire_correlation_t);
    int64_t                   items = l->bottom[0]->dim[0];
    int64_t                   n     = fire_blob_count_range(l->top[0], 1, 4);
    int64_t                   dim   = s->channels * s->in[0] * s->in[1];
    const float              *mine, *other, *dy;
    float                    *dx;

    if (!l->propagate_down[bottom]) return FIRE_OK;
    FIRE_IN(l, l->bottom[bottom], FIRE_DATA, &mine);
    FIRE_IN(l, l->bottom[1 - bottom], FIRE_DATA, &other);
    FIRE_IN(l, l->top[0], FIRE_DIFF, &dy);
    FIRE_OUT(l, l->bottom[bottom], FIRE_DIFF, &dx);
    FIRE_IF_GPU(l, fire_gpu_correlation_back(l->ctx->stream, s, items, bottom == 1,
                                             mine, other, dy, dx));
    FIRE_PARALLEL(i, items * dim, items * dim > 64)
    dx[i] = fire_corr_gradient(s, bottom == 1, mine + i / dim * dim,
                               other + i / dim * dim, dy + i / dim * n, i % dim);
    return FIRE_OK;
}

static fire_status_t correlation_backward(fire_layer_t *l)
{
    FIRE_TRY(backward_to(l, 0));
    return backward_to(l, 1);
}

static double correlation_macs(const fire_layer_t *l)
{
    const fire_correlation_t *s = FIRE_STATE(l, fire_correlation_t);

    return (double)fire_blob_count(l->top[0]) * (double)s->channels *
           (double)(s->kernel * s->kernel);
}

#ifdef FIRE_HAVE_CUDA
const fire_kernel_t fire_correlation_cuda = {
    .name     = "cuda",
    .where    = FIRE_GPU,
    .forward  = correlation_forward,
    .backward = correlation_backward,
};
#endif

const fire_kernel_t fire_correlation_ref = {
    .name     = "ref",
    .forward  = correlation_forward,
    .backward = correlation_backward,
};

const fire_kernel_t *const fire_correlation_kernels[] = {
    FIRE_IF_CUDA(fire_correlation_cuda) &fire_correlation_ref, NULL};

const fire_layer_ops_t fire_layer_correlation = {
    .type       = "Correlation",
    .bottoms    = {2, 2},
    .tops       = {1, 1},
    .state_size = sizeof(fire_correlation_t),
    .setup      = correlation_setup,
    .reshape    = fire_correlation_reshape,
    .macs       = correlation_macs,
    .kernels    = fire_correlation_kernels,
};
