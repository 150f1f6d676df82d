/* conv_winograd.c - Convolution's kernel "winograd", for 3x3 and 5x5 windows with
 * stride 1, with a ReLU that follows in place. The algorithm is in winograd/. */
#include "device/cpu/blocked.h"
#include "device/cpu/parallel.h"
#include "device/cpu/simd.h"
#include "layers/conv/winograd/winograd.h"
#include "layers/conv/conv.h"

enum {
    FEW_CHANNELS = 16, /* with fewer, the transforms cost more than they save */
    FEW_PLACES   = 3,  /* with smaller maps, tiles are mostly empty */
    FEW_OUTPUTS  = 256 /* 3x3: with fewer, transforming the weights does not pay */
};

/* On maps of this size oneDNN's tiles fit better: they are between our two sizes. */
static bool onednn_wins(const int64_t *out)
{
    enum { SMALL_MAP = 14, LARGE_MAP = 28 };
    int64_t side = out[0] < out[1] ? out[0] : out[1];

#ifdef FIRE_HAVE_ONEDNN
    return side >= SMALL_MAP && side < LARGE_MAP;
#else
    (void)side;
    return false;
#endif
}

/* Is it faster than the other kernels at this size? */
static bool takes(const fire_layer_t *l, const fire_conv_t *c)
{
    const int64_t *k = c->window.kernel;

    if (k[0] != k[1] || (k[0] != 3 && k[0] != 5)) return false;
    if (k[0] == 5) return true;
    if (c->images * c->map.plane < FEW_OUTPUTS) return false;
    return l->ctx->precision == FIRE_BF16 ? fire_winograd_works_bf16()
                                          : !onednn_wins(c->map.dim);
}

static const char *window_reason(const fire_window_t *w)
{
    if (w->axes != 2) return "needs two spatial axes";
    for (int i = 0; i < 2; i++) {
        if (w->stride[i] != 1 || w->dilation[i] != 1)
            return "needs stride 1 and no dilation";
        if (w->pad[i] >= w->kernel[i]) return "the padding is wider than the window";
    }
    return NULL;
}

static const char *size_reason(const fire_conv_t *c)
{
    int64_t in = c->image.channels / c->group, out = c->map.channels / c->group;

    if (in < FEW_CHANNELS || out < FEW_CHANNELS) return "there are few channels";
    if (c->group > 1 && (in % FIRE_LANES != 0 || out % FIRE_LANES != 0))
        return "the channels of a group are no multiple of 16";
    if (c->map.dim[0] < FEW_PLACES || c->map.dim[1] < FEW_PLACES)
        return "the output is small";
    return c->images == 0 ? "the input is empty" : NULL;
}

static const char *conv_winograd_declines(const fire_layer_t *l)
{
    const fire_conv_t *c      = FIRE_STATE(l, fire_conv_t);
    const char        *reason = window_reason(&c->window);

    if (l->ctx->exact) return "--exact excludes it";
    if (!fire_winograd_works()) return "needs AVX-512";
    if (c->axis != 1) return "channels are not axis 1";
    if (reason != NULL) return reason;
    return takes(l, c) ? size_reason(c)
                       : "needs 3x3 or 5x5 windows, and sizes where it is faster";
}

static fire_status_t conv_winograd_prepare(fire_layer_t *l)
{
    (void)l;
    return FIRE_OK;
}

static void conv_winograd_release(fire_layer_t *l)
{
    (void)l;
}

static bool conv_winograd_absorbs(const fire_layer_t *l, const fire_layer_t *next)
{
    return fire_conv_absorbs(l, next);
}

static unsigned conv_winograd_backward_reads(const fire_layer_t *l)
{
    return fire_conv_relu_backward_reads(l);
}

/* In TRAIN, 5x5 windows compute forward in float64 (`wide`). Where a maximum or a ReLU
 * follows, rounding errors of nearly equal values decide which of them gets the
 * gradient, and training would diverge from Caffe's. Errors of gradients have no such
 * effect. */
static fire_winograd_t describe(const fire_layer_t *l)
{
    const fire_conv_t *c = FIRE_STATE(l, fire_conv_t);
    fire_winograd_t    w = {.dtype        = l->ctx->precision,
                            .taps         = (int)c->window.kernel[0],
                            .wide         = l->phase == CAFFE__PHASE__TRAIN,
                            .group        = c->group,
                            .num          = c->images,
                            .in_channels  = c->image.channels,
                            .out_channels = c->map.channels};

    for (int i = 0; i < 2; i++) {
        w.in[i]  = c->image.dim[i];
        w.out[i] = c->map.dim[i];
        w.pad[i] = c->window.pad[i];
    }
    return w;
}

/* The blocked format of a blob, in the net's precision. */
static fire_status_t blocked(const fire_layer_t *l, const fire_blob_t *b,
                             fire_format_t *f_p)
{
    return fire_blocked_format(l->ctx->precision, FIRE_LANES, b->ndim, b->dim, f_p);
}

static fire_status_t conv_winograd_forward(fire_layer_t *l)
{
    fire_winograd_t w     = describe(l);
    float           slope = 1.0f;
    const void     *weights;
    const float    *bias;
    void           *x, *y;
    fire_format_t   in, out, plain = FIRE_FORMAT_PLAIN(FIRE_CPU);

    fire_conv_has_relu(l, &slope);
    FIRE_TRY(fire_conv_weights(l, &plain, &weights, &bias));
    FIRE_TRY(blocked(l, l->bottom[0], &in));
    FIRE_TRY(blocked(l, l->top[0], &out));
    for (int k = 0; k < l->nbottom; k++) {
        FIRE_IN_AS(l->bottom[k], FIRE_DATA, &in, &x);
        FIRE_OUT_AS(l->fusion.nfollower > 0 ? fire_layer_result(l) : l->top[k],
                    FIRE_DATA, &out, &y);
        FIRE_TRY(fire_winograd_forward(&w, x, weights, bias, slope, y, l->ctx->pool));
    }
    return FIRE_OK;
}

/* Sum dy over all places, for one block of channels: 8 chains of additions, which hide
 * the latency of an addition, added in a fixed order. */
FIRE_SIMD void sum_places(fire_dtype_t t, const fire_blocked_t *b, int64_t block,
                          const void *dy, fire_vf_t *sum_p)
{
    enum { CHAINS = 8 };
    fire_vf_t sum[CHAINS] = {{0}};

    for (int64_t n = 0; n < b->num; n++) {
        int64_t at = (n * b->blocks + block) * b->plane * FIRE_LANES;

        for (int64_t p = 0; p < b->plane; p++)
            sum[p % CHAINS] += fire_vf_load(dy, t, FIRE_LANES, at + p * FIRE_LANES);
    }
    *sum_p = ((sum[0] + sum[1]) + (sum[2] + sum[3])) +
             ((sum[4] + sum[5]) + (sum[6] + sum[7]));
}

FIRE_VECTOR static void sum_block(const fire_blocked_t *b, int64_t block,
                                  const void *dy, fire_vf_t *sum_p)
{
    if (b->dtype == FIRE_BF16)
        sum_places(FIRE_BF16, b, block, dy, sum_p);
    else
        sum_places(FIRE_F32, b, block, dy, sum_p);
}

static fire_status_t backward_bias(fire_layer_t *l, const fire_format_t *f,
                                   const void *dy)
{
    const fire_blocked_t *b = fire_blocked_of(f);
    float                *diff;

    if (l->nblob < 2 || !l->param_gradient[1]) return FIRE_OK;
    FIRE_INOUT(l, l->blob[1], FIRE_DIFF, &diff);
    FIRE_PARALLEL(k, b->blocks, true)
    {
        fire_vf_t sum;

        sum_block(b, k, dy, &sum);
        for (int64_t j = 0; j < FIRE_LANES && k * FIRE_LANES + j < b->channels; j++)
            diff[k * FIRE_LANES + j] += sum[j];
    }
    return FIRE_OK;
}

static fire_status_t backward_pair(fire_layer_t *l, int k)
{
    fire_winograd_t w = describe(l);
    const float    *weights;
    float          *diff;
    void           *x, *dy, *dx;
    fire_format_t   in, out;

    FIRE_TRY(blocked(l, l->bottom[k], &in));
    FIRE_TRY(blocked(l, l->top[k], &out));
    FIRE_IN_AS(l->top[k], FIRE_DIFF, &out, &dy);
    FIRE_TRY(backward_bias(l, &out, dy));
    if (l->param_gradient[0]) {
        FIRE_IN_AS(l->bottom[k], FIRE_DATA, &in, &x);
        FIRE_INOUT(l, l->blob[0], FIRE_DIFF, &diff);
        FIRE_TRY(fire_winograd_backward_weights(&w, x, dy, diff, l->ctx->pool));
    }
    if (!l->propagate_down[k]) return FIRE_OK;
    FIRE_IN(l, l->blob[0], FIRE_DATA, &weights);
    FIRE_OUT_AS(l->bottom[k], FIRE_DIFF, &in, &dx);
    return fire_winograd_backward_data(&w, dy, weights, dx, l->ctx->pool);
}

static fire_status_t conv_winograd_backward(fire_layer_t *l)
{
    FIRE_TRY(fire_conv_relu_backward(l));
    for (int k = 0; k < l->ntop; k++)
        FIRE_TRY(backward_pair(l, k));
    return FIRE_OK;
}

static const fire_fusion_ops_t conv_winograd_fusion = {
    .absorbs        = conv_winograd_absorbs,
    .backward_reads = conv_winograd_backward_reads,
};

const fire_kernel_t fire_conv_winograd = {
    .name     = "winograd",
    .declines = conv_winograd_declines,
    .prepare  = conv_winograd_prepare,
    .forward  = conv_winograd_forward,
    .backward = conv_winograd_backward,
    .release  = conv_winograd_release,
    .fusion   = &conv_winograd_fusion,
};
