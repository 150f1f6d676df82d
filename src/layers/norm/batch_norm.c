/* batch_norm.c - BatchNorm: y = (x - mean) / sqrt(variance + eps) per channel (Ioffe
 * and Szegedy, 2015).
 *
 *     bottom, top: (N, C, ...)
 *     blob 0: (C), 1: (C), 2: (1)    running statistics, without gradients
 *     blob 3: (C), 4: (C)            with scale_bias, as in NVIDIA's fork: y = g y + b
 *
 * Blobs 0 and 1 are decayed sums of the batches' means and unbiased variances, blob 2
 * is the weight of these sums, by which TEST divides. TRAIN normalises with the batch's
 * own mean and biased variance. */
#include <math.h>

#include "layers/norm/batch_norm.h"

typedef fire_batch_norm_t batch_norm_t;

enum { MEAN, VARIANCE, WEIGHT, NSTATISTIC, GAIN = NSTATISTIC, SHIFT };

static fire_status_t check_learning_rates(const fire_layer_t *l)
{
    for (size_t i = 0; i < l->param->n_param && i < NSTATISTIC; i++)
        if (l->param->param[i]->lr_mult != 0.0f)
            return FIRE_FAIL(FIRE_ERR_INVALID,
                             "the statistics of a BatchNorm are not learned: param %zu "
                             "needs lr_mult: 0 (or leave param out)",
                             i);
    return FIRE_OK;
}

static fire_status_t add_scale_bias(fire_layer_t *l, const Caffe__BatchNormParameter *p)
{
    int64_t                channels = FIRE_STATE(l, batch_norm_t)->view.dim;
    Caffe__FillerParameter ones     = CAFFE__FILLER_PARAMETER__INIT;

    ones.value = 1.0f;
    FIRE_TRY(fire_layer_add_blob(l, 1, &channels,
                                 p->scale_filler != NULL ? p->scale_filler : &ones));
    return fire_layer_add_blob(l, 1, &channels, p->bias_filler);
}

static fire_status_t batch_norm_setup(fire_layer_t *l)
{
    const Caffe__BatchNormParameter *p =
        FIRE_PARAM(l, batch_norm_param, CAFFE__BATCH_NORM_PARAMETER__INIT);
    batch_norm_t *s   = FIRE_STATE(l, batch_norm_t);
    const int64_t one = 1;

    if (l->bottom[0]->ndim < 2)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "the input must have at least 2 axes (num, channels)");
    FIRE_TRY(check_learning_rates(l));
    s->eps      = p->eps;
    s->view.dim = l->bottom[0]->dim[1];
    s->use_global =
        p->has_use_global_stats ? p->use_global_stats : l->phase == CAFFE__PHASE__TEST;
    s->share      = 1.0f;
    s->unbiased   = true;
    s->at         = (fire_batch_norm_blobs_t){MEAN, VARIANCE, WEIGHT, -1, -1};
    l->nstatistic = NSTATISTIC;
    l->stat_decay = p->moving_average_fraction;
    for (int i = 0; i < NSTATISTIC; i++)
        FIRE_TRY(fire_layer_add_blob(l, 1, i == WEIGHT ? &one : &s->view.dim, NULL));
    if (!p->scale_bias && p->scale_filler == NULL && p->bias_filler == NULL)
        return FIRE_OK;
    s->at.gain  = GAIN;
    s->at.shift = SHIFT;
    return add_scale_bias(l, p);
}

fire_status_t fire_batch_norm_reshape(fire_layer_t *l)
{
    fire_affine_t     *v = &FIRE_STATE(l, batch_norm_t)->view;
    const fire_blob_t *x = l->bottom[0];
    char               shape[FIRE_SHAPE_TEXT];

    if (x->ndim < 2 || x->dim[1] != v->dim)
        return FIRE_FAIL(
            FIRE_ERR_INVALID,
            "the layer was made for %lld channels, the input's shape is %s",
            (long long)v->dim, fire_blob_shape_string(x, shape, sizeof(shape)));
    v->outer = x->dim[0];
    v->inner = fire_blob_count_range(x, 2, x->ndim);
    return fire_layer_reshape_same(l);
}

/* Of `ref`. mean, minus_mean, deviation = sqrt(variance + eps): (C). normal: the
 * normalised values, kept for backward, as the next layer may overwrite the top.
 * scaled: dy times the learned gain. work: as large as x; partial: (N, C); ones: for
 * sums by gemv. */
typedef struct batch_norm_ref {
    fire_scratch_t mean, minus_mean, deviation, normal, scaled, work, partial, ones;
} batch_norm_ref_t;

static fire_status_t batch_norm_prepare(fire_layer_t *l)
{
    const batch_norm_t *s = FIRE_STATE(l, batch_norm_t);
    batch_norm_ref_t   *r = l->kernel_state;
    int64_t             n = fire_blob_count(l->bottom[0]);

    if (r == NULL) FIRE_TRY(FIRE_NEW(&r, 1));
    l->kernel_state = r;
    FIRE_TRY(fire_scratch_fit(&r->mean, s->view.dim));
    FIRE_TRY(fire_scratch_fit(&r->minus_mean, s->view.dim));
    FIRE_TRY(fire_scratch_fit(&r->deviation, s->view.dim));
    FIRE_TRY(fire_scratch_fit(&r->partial, s->view.outer * s->view.dim));
    FIRE_TRY(fire_scratch_fit(&r->normal, n));
    FIRE_TRY(fire_scratch_fit(&r->work, n));
    if (s->at.gain >= 0) FIRE_TRY(fire_scratch_fit(&r->scaled, n));
    return fire_scratch_ones(&r->ones, s->view.outer > s->view.inner ? s->view.outer
                                                                     : s->view.inner);
}

static void batch_norm_release(fire_layer_t *l)
{
    batch_norm_ref_t *r = l->kernel_state;

    if (r == NULL) return;
    fire_scratch_free(&r->mean);
    fire_scratch_free(&r->minus_mean);
    fire_scratch_free(&r->deviation);
    fire_scratch_free(&r->normal);
    fire_scratch_free(&r->scaled);
    fire_scratch_free(&r->work);
    fire_scratch_free(&r->partial);
    fire_scratch_free(&r->ones);
    fire_free(r);
    l->kernel_state = NULL;
}

/* out[channel] = weight * sum over images and places + keep * out[channel]; sums each
 * plane, then over images, as Caffe does. */
static void sum_channels(const fire_affine_t *v, batch_norm_ref_t *r, float weight,
                         const float *x, float keep, float *out)
{
    fire_gemv(FIRE_NO_TRANS, v->outer * v->dim, v->inner, weight, x, r->ones.x, 0.0f,
              r->partial.x);
    fire_gemv(FIRE_TRANS, v->outer, v->dim, 1.0f, r->partial.x, r->ones.x, keep, out);
}

fire_status_t fire_batch_norm_read(fire_layer_t *l, float *mean, float *variance)
{
    const batch_norm_t *s        = FIRE_STATE(l, batch_norm_t);
    int64_t             channels = s->view.dim;
    const float        *sum_mean, *sum_variance, *weight;
    float               scale = 1.0f;

    if (s->at.mean < 0) {
        fire_fill(channels, 0.0f, mean);
        fire_fill(channels, 1.0f, variance);
        return FIRE_OK;
    }
    FIRE_IN(l, l->blob[s->at.mean], FIRE_DATA, &sum_mean);
    FIRE_IN(l, l->blob[s->at.variance], FIRE_DATA, &sum_variance);
    if (s->at.weight >= 0) {
        FIRE_IN(l, l->blob[s->at.weight], FIRE_DATA, &weight);
        scale = weight[0] == 0.0f ? 0.0f : 1.0f / weight[0];
    }
    for (int64_t c = 0; c < channels; c++) {
        mean[c]     = scale * sum_mean[c];
        variance[c] = scale * sum_variance[c];
    }
    return FIRE_OK;
}

fire_status_t fire_batch_norm_update(fire_layer_t *l, const float *mean,
                                     const float *variance)
{
    const batch_norm_t  *s    = FIRE_STATE(l, batch_norm_t);
    const fire_affine_t *v    = &s->view;
    fire_part_t          part = l->moment->defer_stats ? FIRE_DIFF : FIRE_DATA;
    int64_t              m    = v->outer * v->inner;
    float  unbiased           = s->unbiased && m > 1 ? (float)m / (float)(m - 1) : 1.0f;
    float *sum_mean, *sum_variance, *weight;

    if (s->at.mean < 0) return FIRE_OK;
    FIRE_INOUT(l, l->blob[s->at.mean], part, &sum_mean);
    FIRE_INOUT(l, l->blob[s->at.variance], part, &sum_variance);
    fire_axpby(v->dim, s->share, mean, l->stat_decay, sum_mean);
    fire_axpby(v->dim, s->share * unbiased, variance, l->stat_decay, sum_variance);
    if (s->at.weight < 0) return FIRE_OK;
    FIRE_INOUT(l, l->blob[s->at.weight], part, &weight);
    weight[0] *= l->stat_decay;
    weight[0] += 1.0f;
    return FIRE_OK;
}

static fire_status_t scale_forward(fire_layer_t *l, float *y)
{
    const batch_norm_t *s = FIRE_STATE(l, batch_norm_t);
    const float        *gain, *shift;

    FIRE_IN(l, l->blob[s->at.gain], FIRE_DATA, &gain);
    FIRE_IN(l, l->blob[s->at.shift], FIRE_DATA, &shift);
    fire_affine_scale(&s->view, y, gain, y);
    fire_affine_shift(&s->view, y, shift, y);
    return FIRE_OK;
}

/* Tops 1 and 2 (optional): the mean and variance that y was normalised with. */
static fire_status_t give_statistics(fire_layer_t *l, const float *mean,
                                     const float *variance)
{
    const float *from[] = {NULL, mean, variance};
    float       *to;

    for (int i = 1; i < l->ntop; i++) {
        FIRE_OUT(l, l->top[i], FIRE_DATA, &to);
        fire_copy(fire_blob_count(l->top[i]), from[i], to);
    }
    return FIRE_OK;
}

static fire_status_t batch_norm_forward(fire_layer_t *l)
{
    const batch_norm_t  *s    = FIRE_STATE(l, batch_norm_t);
    const fire_affine_t *v    = &s->view;
    batch_norm_ref_t    *r    = l->kernel_state;
    float               *mean = r->mean.x, *deviation = r->deviation.x;
    float                weight = (float)(1.0 / (double)(v->outer * v->inner));
    const float         *x;
    float               *y;

    FIRE_IN(l, l->bottom[0], FIRE_DATA, &x);
    FIRE_OUT(l, l->top[0], FIRE_DATA, &y);
    if (s->use_global)
        FIRE_TRY(fire_batch_norm_read(l, mean, deviation));
    else
        sum_channels(v, r, weight, x, 0.0f, mean);
    for (int64_t c = 0; c < v->dim; c++)
        r->minus_mean.x[c] = -mean[c];
    fire_affine_shift(v, x, r->minus_mean.x, y);
    if (!s->use_global) {
        for (int64_t i = 0; i < fire_blob_count(l->top[0]); i++)
            r->work.x[i] = y[i] * y[i];
        sum_channels(v, r, weight, r->work.x, 0.0f, deviation);
        FIRE_TRY(fire_batch_norm_update(l, mean, deviation));
    }
    FIRE_TRY(give_statistics(l, mean, deviation));
    for (int64_t c = 0; c < v->dim; c++)
        deviation[c] = sqrtf(deviation[c] + s->eps);
    fire_affine_divide(v, y, deviation, y);
    fire_copy(fire_blob_count(l->top[0]), y, r->normal.x);
    return s->at.gain >= 0 ? scale_forward(l, y) : FIRE_OK;
}

/* Gradients of gain and shift; *dy_p becomes the gradient of the normalised values. */
static fire_status_t scale_backward(fire_layer_t *l, const float **dy_p)
{
    const batch_norm_t  *s  = FIRE_STATE(l, batch_norm_t);
    const fire_affine_t *v  = &s->view;
    batch_norm_ref_t    *r  = l->kernel_state;
    const float         *dy = *dy_p, *gain;
    float               *diff;

    if (l->param_gradient[s->at.gain]) {
        FIRE_INOUT(l, l->blob[s->at.gain], FIRE_DIFF, &diff);
        for (int64_t i = 0; i < fire_blob_count(l->top[0]); i++)
            r->work.x[i] = dy[i] * r->normal.x[i];
        sum_channels(v, r, 1.0f, r->work.x, 1.0f, diff);
    }
    if (l->param_gradient[s->at.shift]) {
        FIRE_INOUT(l, l->blob[s->at.shift], FIRE_DIFF, &diff);
        sum_channels(v, r, 1.0f, dy, 1.0f, diff);
    }
    FIRE_IN(l, l->blob[s->at.gain], FIRE_DATA, &gain);
    fire_affine_scale(v, dy, gain, r->scaled.x);
    *dy_p = r->scaled.x;
    return FIRE_OK;
}

/* With y normalised over m elements:
 *   dx = (dy - mean(dy) - mean(dy y) y) / deviation */
static void backward_batch(const fire_layer_t *l, const float *dy, float *dx)
{
    const fire_affine_t *v    = &FIRE_STATE(l, batch_norm_t)->view;
    batch_norm_ref_t    *r    = l->kernel_state;
    const float         *y    = r->normal.x;
    float               *work = r->work.x, *sum = r->mean.x;
    int64_t              n = fire_blob_count(l->top[0]);

    for (int64_t i = 0; i < n; i++)
        work[i] = y[i] * dy[i];
    sum_channels(v, r, 1.0f, work, 0.0f, sum);
    fire_affine_scale(v, y, sum, work);
    sum_channels(v, r, 1.0f, dy, 0.0f, sum);
    fire_affine_shift(v, work, sum, work);
    fire_axpby(n, 1.0f, dy, (float)(-1.0 / (double)(v->outer * v->inner)), work);
    fire_affine_divide(v, work, r->deviation.x, dx);
}

static fire_status_t batch_norm_backward(fire_layer_t *l)
{
    const batch_norm_t     *s = FIRE_STATE(l, batch_norm_t);
    const batch_norm_ref_t *r = l->kernel_state;
    const float            *dy;
    float                  *dx;

    FIRE_IN(l, l->top[0], FIRE_DIFF, &dy);
    if (s->at.gain >= 0) FIRE_TRY(scale_backward(l, &dy));
    if (!l->propagate_down[0]) return FIRE_OK;
    FIRE_OUT(l, l->bottom[0], FIRE_DIFF, &dx);
    if (s->use_global)
        fire_affine_divide(&s->view, dy, r->deviation.x, dx);
    else
        backward_batch(l, dy, dx);
    return FIRE_OK;
}

const fire_kernel_t fire_batch_norm_ref = {
    .name     = "ref",
    .prepare  = batch_norm_prepare,
    .forward  = batch_norm_forward,
    .backward = batch_norm_backward,
    .release  = batch_norm_release,
};

extern const fire_kernel_t fire_batch_norm_cuda; /* norm_cuda.c */
extern const fire_kernel_t fire_batch_norm_simd; /* norm_simd.c */

const fire_kernel_t *const fire_batch_norm_kernels[] = {
    FIRE_IF_CUDA(fire_batch_norm_cuda) &fire_batch_norm_simd, &fire_batch_norm_ref,
    NULL};

const fire_layer_ops_t fire_layer_batch_norm = {
    .type       = "BatchNorm",
    .bottoms    = {1, 1},
    .tops       = {1, 1},
    .flags      = FIRE_LAYER_INPLACE,
    .state_size = sizeof(batch_norm_t),
    .setup      = batch_norm_setup,
    .reshape    = fire_batch_norm_reshape,
    .kernels    = fire_batch_norm_kernels,
};
