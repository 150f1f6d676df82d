/* prelu.c - parametric ReLU (He et al. 2015): y = max(x, 0) + slope min(x, 0), where
 * the slope is learned.
 *
 *   x, y   (num, channels, ...)
 *   slope  (channels), or one number with channel_shared; 0.25 at the start */
#include "layers/common/sums.h"
#include "layers/neuron/neuron.h"

typedef struct prelu {
    bool        shared; /* one slope for all channels */
    fire_kept_t kept;
} prelu_t;

static fire_status_t prelu_setup(fire_layer_t *l)
{
    const Caffe__PReLUParameter *p =
        FIRE_PARAM(l, prelu_param, CAFFE__PRE_LUPARAMETER__INIT);
    Caffe__FillerParameter quarter = CAFFE__FILLER_PARAMETER__INIT;
    prelu_t               *s       = l->state;

    if (l->bottom[0]->ndim < 2)
        return FIRE_FAIL(FIRE_ERR_INVALID, "the bottom has no channel axis (axis 1)");
    quarter.has_value = true;
    quarter.value     = 0.25f;
    s->shared         = p->channel_shared;
    return fire_layer_add_blob(l, s->shared ? 0 : 1, &l->bottom[0]->dim[1],
                               p->filler != NULL ? p->filler : &quarter);
}

static fire_status_t prelu_reshape(fire_layer_t *l)
{
    if (l->bottom[0]->ndim < 2 || (!FIRE_STATE(l, prelu_t)->shared &&
                                   l->bottom[0]->dim[1] != fire_blob_count(l->blob[0])))
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "made for %lld channels, the bottom has %lld",
                         (long long)fire_blob_count(l->blob[0]),
                         (long long)fire_blob_dim_or_1(l->bottom[0], 1));
    return fire_layer_reshape_same(l);
}

static fire_gpu_planes_t planes_of(const fire_layer_t *l)
{
    const fire_blob_t *x = l->bottom[0];

    return (fire_gpu_planes_t){x->dim[0], x->dim[1],
                               fire_blob_count_range(x, 2, x->ndim),
                               fire_blob_count(l->blob[0])};
}

static fire_status_t prelu_forward(fire_layer_t *l)
{
    fire_gpu_planes_t g = planes_of(l);
    const float      *x, *slope;
    float            *y;

    FIRE_TRY(fire_kept_save(&FIRE_STATE(l, prelu_t)->kept, l));
    FIRE_IN(l, l->blob[0], FIRE_DATA, &slope);
    FIRE_IN(l, l->bottom[0], FIRE_DATA, &x);
    FIRE_OUT(l, l->top[0], FIRE_DATA, &y);
    FIRE_IF_GPU(l, fire_gpu_prelu(l->ctx->stream, &g, slope, x, y));
    for (int64_t p = 0; p < g.outer * g.channels; p++) {
        float a = slope[p % g.slopes];

        for (int64_t i = p * g.inner; i < (p + 1) * g.inner; i++)
            y[i] = fire_max(x[i], 0.0f) + a * fire_min(x[i], 0.0f);
    }
    return FIRE_OK;
}

static fire_status_t slope_gradient(fire_layer_t *l, const float *x, const float *dy)
{
    fire_gpu_planes_t g = planes_of(l);
    float            *dslope;

    FIRE_INOUT(l, l->blob[0], FIRE_DIFF, &dslope);
    FIRE_IF_GPU(l, fire_gpu_prelu_dslope(l->ctx->stream, &g, x, dy, dslope));
    for (int64_t p = 0; p < g.outer * g.channels; p++) {
        float *sum = &dslope[p % g.slopes];

        for (int64_t i = p * g.inner; i < (p + 1) * g.inner; i++)
            *sum += dy[i] * x[i] * (float)(x[i] <= 0);
    }
    return FIRE_OK;
}

static fire_status_t prelu_backward(fire_layer_t *l)
{
    fire_gpu_planes_t g      = planes_of(l);
    fire_blob_t      *bottom = fire_kept_bottom(&FIRE_STATE(l, prelu_t)->kept, l);
    const float      *x, *dy, *slope;
    float            *dx;

    FIRE_IN(l, bottom, FIRE_DATA, &x);
    FIRE_IN(l, l->top[0], FIRE_DIFF, &dy);
    if (l->param_gradient[0]) FIRE_TRY(slope_gradient(l, x, dy));
    if (!l->propagate_down[0]) return FIRE_OK;
    FIRE_IN(l, l->blob[0], FIRE_DATA, &slope);
    FIRE_OUT(l, l->bottom[0], FIRE_DIFF, &dx);
    FIRE_IF_GPU(l, fire_gpu_prelu_dx(l->ctx->stream, &g, slope, x, dy, dx));
    for (int64_t p = 0; p < g.outer * g.channels; p++) {
        float a = slope[p % g.slopes];

        for (int64_t i = p * g.inner; i < (p + 1) * g.inner; i++)
            dx[i] = dy[i] * ((float)(x[i] > 0) + a * (float)(x[i] <= 0));
    }
    return FIRE_OK;
}

static void prelu_teardown(fire_layer_t *l)
{
    fire_kept_fini(&FIRE_STATE(l, prelu_t)->kept);
}

const fire_kernel_t fire_prelu_cuda = {
    .name     = "cuda",
    .where    = FIRE_GPU,
    .forward  = prelu_forward,
    .backward = prelu_backward,
};

const fire_kernel_t fire_prelu_ref = {
    .name     = "ref",
    .forward  = prelu_forward,
    .backward = prelu_backward,
};

static const fire_kernel_t *const prelu_kernels[] = {
    FIRE_IF_CUDA(fire_prelu_cuda) &fire_prelu_ref, NULL};

const fire_layer_ops_t fire_layer_prelu = {
    .type       = "PReLU",
    .bottoms    = {1, 1},
    .tops       = {1, 1},
    .flags      = FIRE_LAYER_INPLACE,
    .state_size = sizeof(prelu_t),
    .setup      = prelu_setup,
    .reshape    = prelu_reshape,
    .teardown   = prelu_teardown,
    .kernels    = prelu_kernels,
};
