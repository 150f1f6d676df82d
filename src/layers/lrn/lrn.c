/* lrn.c - LRN, local response normalisation (Krizhevsky et al., 2012): n = local_size,
 *
 *     y = x * scale ^ -beta
 *     ACROSS_CHANNELS  scale = k + alpha / n * sum of x^2 over the n channels around
 *     WITHIN_CHANNEL   scale = 1 + alpha * mean of x^2 over the n x n places around
 *
 *     bottom, top: (N, C, H, W) */
#include <math.h>

#include "device/cpu/blas.h"
#include "layers/lrn/lrn.h"
#include "layers/pooling/pool.h"

typedef fire_lrn_t lrn_t;

static fire_status_t lrn_setup(fire_layer_t *l)
{
    static const Caffe__LRNParameter defaults = CAFFE__LRNPARAMETER__INIT;
    const Caffe__LRNParameter       *p =
        l->param->lrn_param ? l->param->lrn_param : &defaults;
    lrn_t *s = FIRE_STATE(l, lrn_t);

    if (p->local_size % 2 == 0)
        return FIRE_FAIL(FIRE_ERR_INVALID, "local_size must be odd, it is %u",
                         p->local_size);
    s->size   = p->local_size;
    s->alpha  = p->alpha;
    s->beta   = p->beta;
    s->k      = p->k;
    s->within = p->norm_region == CAFFE__LRNPARAMETER__NORM_REGION__WITHIN_CHANNEL;
    return FIRE_OK;
}

static fire_status_t lrn_reshape(fire_layer_t *l)
{
    char shape[FIRE_SHAPE_TEXT];

    if (l->bottom[0]->ndim != 4)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "the input must have 4 axes (num, channels, height, width), "
                         "its shape is %s",
                         fire_blob_shape_string(l->bottom[0], shape, sizeof(shape)));
    return fire_layer_reshape_same(l);
}

/* Of `ref`. scale: (N, C, H, W), kept for backward. padded: squares, or ratios in
 * backward, of one image's channels with zero channels around them; within channels one
 * image. sum: two planes; within channels one image. */
typedef struct lrn_ref {
    fire_scratch_t scale, padded, sum;
} lrn_ref_t;

static fire_status_t lrn_prepare(fire_layer_t *l)
{
    const lrn_t       *s     = FIRE_STATE(l, lrn_t);
    const fire_blob_t *x     = l->bottom[0];
    lrn_ref_t         *r     = l->kernel_state;
    int64_t            plane = fire_blob_count_range(x, 2, 4), dim = x->dim[1] * plane;

    if (r == NULL) FIRE_TRY(FIRE_NEW(&r, 1));
    l->kernel_state = r;
    FIRE_TRY(fire_scratch_fit(&r->scale, fire_blob_count(x)));
    FIRE_TRY(fire_scratch_fit(&r->sum, s->within ? dim : 2 * plane));
    return fire_scratch_fit(&r->padded,
                            s->within ? dim : (x->dim[1] + s->size - 1) * plane);
}

static void lrn_release(fire_layer_t *l)
{
    lrn_ref_t *r = l->kernel_state;

    if (r == NULL) return;
    fire_scratch_free(&r->scale);
    fire_scratch_free(&r->padded);
    fire_scratch_free(&r->sum);
    fire_free(r);
    l->kernel_state = NULL;
}

/* A running sum over the channels of one image: add the channel that enters the window,
 * subtract the one that leaves it. */
static void across_scale(const lrn_t *s, int64_t channels, int64_t plane,
                         const float *x, float *padded, float *scale)
{
    float weight = s->alpha / (float)s->size;

    if (channels == 0) return;
    fire_fill((channels + s->size - 1) * plane, 0.0f, padded);
    for (int64_t i = 0; i < channels * plane; i++)
        padded[(s->size - 1) / 2 * plane + i] = x[i] * x[i];
    fire_fill(plane, s->k, scale);
    for (int64_t c = 0; c < s->size; c++)
        fire_axpy(plane, weight, padded + c * plane, scale);
    for (int64_t c = 1; c < channels; c++) {
        float *here = scale + c * plane;

        fire_copy(plane, here - plane, here);
        fire_axpy(plane, weight, padded + (c + s->size - 1) * plane, here);
        fire_axpy(plane, -weight, padded + (c - 1) * plane, here);
    }
}

/* The n x n window as average pooling of stride 1, whose padding counts. */
static fire_pool_windows_t within_window(const fire_layer_t *l)
{
    const lrn_t *s = FIRE_STATE(l, lrn_t);
    int64_t pad = (s->size - 1) / 2, h = l->bottom[0]->dim[2], w = l->bottom[0]->dim[3];

    return (fire_pool_windows_t){.kernel = {s->size, s->size},
                                 .stride = {1, 1},
                                 .pad    = {pad, pad},
                                 .in     = {h, w},
                                 .out    = {h, w}};
}

/* The scale of one image: 1 + alpha * average of squares. */
static void within_scale(const fire_layer_t *l, const float *x, float *scale)
{
    const lrn_t        *s = FIRE_STATE(l, lrn_t);
    lrn_ref_t          *r = l->kernel_state;
    fire_pool_windows_t p = within_window(l);
    int64_t             n = l->bottom[0]->dim[1] * p.in[0] * p.in[1];

    for (int64_t i = 0; i < n; i++)
        r->padded.x[i] = powf(x[i], 2.0f);
    fire_pool_ave(&p, l->bottom[0]->dim[1], r->padded.x, scale);
    for (int64_t i = 0; i < n; i++)
        scale[i] = s->alpha * scale[i] + 1.0f;
}

static fire_status_t lrn_forward(fire_layer_t *l)
{
    const lrn_t *s        = FIRE_STATE(l, lrn_t);
    lrn_ref_t   *r        = l->kernel_state;
    int64_t      images   = l->bottom[0]->dim[0];
    int64_t      channels = l->bottom[0]->dim[1];
    int64_t      plane    = fire_blob_count_range(l->bottom[0], 2, 4);
    const float *x;
    float       *y;

    FIRE_IN(l, l->bottom[0], FIRE_DATA, &x);
    FIRE_OUT(l, l->top[0], FIRE_DATA, &y);
    for (int64_t n = 0; n < images; n++) {
        int64_t at = n * channels * plane;

        if (s->within)
            within_scale(l, x + at, r->scale.x + at);
        else
            across_scale(s, channels, plane, x + at, r->padded.x, r->scale.x + at);
    }
    for (int64_t i = 0; i < images * channels * plane; i++)
        y[i] = powf(r->scale.x[i], -s->beta) * x[i];
    return FIRE_OK;
}

/* dx = dy * scale^-beta - 2 alpha beta / n * x * sum over n channels of dy y / scale */
static void across_back(const fire_layer_t *l, const float *x, const float *y,
                        const float *dy, const float *scale, float *dx)
{
    const lrn_t *s        = FIRE_STATE(l, lrn_t);
    lrn_ref_t   *r        = l->kernel_state;
    int64_t      channels = l->bottom[0]->dim[1];
    int64_t      plane    = fire_blob_count_range(l->bottom[0], 2, 4);
    float        weight   = (float)(2.0 * s->alpha * s->beta / (double)s->size);
    float       *ratio = r->padded.x, *sum = r->sum.x, *sum_x = sum + plane;
    float       *inside = ratio + (s->size - (s->size + 1) / 2) * plane;

    fire_fill((channels + s->size - 1) * plane, 0.0f, ratio);
    for (int64_t i = 0; i < channels * plane; i++) {
        dx[i]     = powf(scale[i], -s->beta) * dy[i];
        inside[i] = dy[i] * y[i] / scale[i];
    }
    fire_fill(plane, 0.0f, sum);
    for (int64_t c = 0; c < s->size - 1; c++)
        fire_axpy(plane, 1.0f, ratio + c * plane, sum);
    for (int64_t c = 0; c < channels; c++) {
        fire_axpy(plane, 1.0f, ratio + (c + s->size - 1) * plane, sum);
        for (int64_t i = 0; i < plane; i++)
            sum_x[i] = x[c * plane + i] * sum[i];
        fire_axpy(plane, -weight, sum_x, dx + c * plane);
        fire_axpy(plane, -1.0f, ratio + c * plane, sum);
    }
}

static void within_back(const fire_layer_t *l, const float *x, const float *dy,
                        const float *scale, float *dx)
{
    const lrn_t        *s = FIRE_STATE(l, lrn_t);
    lrn_ref_t          *r = l->kernel_state;
    fire_pool_windows_t p = within_window(l);
    int64_t             n = l->bottom[0]->dim[1] * p.in[0] * p.in[1];
    float *d_mean = r->sum.x, *d_square = r->padded.x, slope = -s->beta * s->alpha;

    for (int64_t i = 0; i < n; i++) {
        float power = powf(scale[i], -s->beta);

        d_mean[i] = x[i] * dy[i] * (power / scale[i] * slope);
        dx[i]     = power * dy[i];
    }
    fire_pool_ave_back(&p, l->bottom[0]->dim[1], d_mean, d_square);
    for (int64_t i = 0; i < n; i++)
        dx[i] += d_square[i] * (2.0f * x[i]);
}

static fire_status_t lrn_backward(fire_layer_t *l)
{
    const lrn_t     *s   = FIRE_STATE(l, lrn_t);
    const lrn_ref_t *r   = l->kernel_state;
    int64_t          dim = fire_blob_count_range(l->bottom[0], 1, 4);
    const float     *x, *y, *dy;
    float           *dx;

    if (!l->propagate_down[0]) return FIRE_OK;
    FIRE_IN(l, l->bottom[0], FIRE_DATA, &x);
    FIRE_IN(l, l->top[0], FIRE_DATA, &y);
    FIRE_IN(l, l->top[0], FIRE_DIFF, &dy);
    FIRE_OUT(l, l->bottom[0], FIRE_DIFF, &dx);
    for (int64_t at = 0; at < fire_blob_count(l->bottom[0]); at += dim)
        if (s->within)
            within_back(l, x + at, dy + at, r->scale.x + at, dx + at);
        else
            across_back(l, x + at, y + at, dy + at, r->scale.x + at, dx + at);
    return FIRE_OK;
}

const fire_kernel_t fire_lrn_ref = {
    .name     = "ref",
    .prepare  = lrn_prepare,
    .forward  = lrn_forward,
    .backward = lrn_backward,
    .release  = lrn_release,
};

extern const fire_kernel_t fire_lrn_cuda;        /* lrn.cu */
extern const fire_kernel_t fire_lrn_within_cuda; /* lrn_within.cu */
extern const fire_kernel_t fire_lrn_simd;        /* lrn_simd.c */

static const fire_kernel_t *const lrn_kernels[] = {
    FIRE_IF_CUDA(fire_lrn_cuda) FIRE_IF_CUDA(fire_lrn_within_cuda) &fire_lrn_simd,
    &fire_lrn_ref, NULL};

const fire_layer_ops_t fire_layer_lrn = {
    .type       = "LRN",
    .bottoms    = {1, 1},
    .tops       = {1, 1},
    .state_size = sizeof(lrn_t),
    .setup      = lrn_setup,
    .reshape    = lrn_reshape,
    .kernels    = lrn_kernels,
};
