/* batch_norm.c - y = (x - mean) / sqrt(var + eps) per channel (Ioffe, Szegedy 2015).
 *
 * Three parameters, which are statistics and follow no gradient: decayed sums of the
 * batches' means and unbiased variances, and the weight of those sums, by which TEST
 * divides. TRAIN normalises with the batch's own mean and biased variance. */
#include <math.h>

#include "device/cpu/blas.h"
#include "layers/layer.h"

typedef struct batch_norm {
    float   eps;
    bool    use_global;
    int64_t num, channels, plane;
} batch_norm_t;

enum { MEAN, VARIANCE, WEIGHT, NBLOB };

static fire_status_t check_learning_rates(const fire_layer_t *l)
{
    for (size_t i = 0; i < l->param->n_param; i++)
        if (l->param->param[i]->lr_mult != 0.0f)
            return FIRE_FAIL(FIRE_ERR_INVALID,
                             "the statistics of a BatchNorm are not learned: param %zu "
                             "needs lr_mult: 0 (or leave param out)",
                             i);
    return FIRE_OK;
}

static fire_status_t batch_norm_setup(fire_layer_t *l)
{
    static const Caffe__BatchNormParameter defaults = CAFFE__BATCH_NORM_PARAMETER__INIT;
    const Caffe__BatchNormParameter       *p        = l->param->batch_norm_param;
    batch_norm_t                          *s        = FIRE_STATE(l, batch_norm_t);
    const int64_t                          one      = 1;

    if (p == NULL) p = &defaults;
    if (l->bottom[0]->ndim < 2)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "the input must have at least 2 axes (num, channels)");
    FIRE_TRY(check_learning_rates(l));
    s->eps      = p->eps;
    s->channels = l->bottom[0]->dim[1];
    s->use_global =
        p->has_use_global_stats ? p->use_global_stats : l->phase == CAFFE__PHASE__TEST;
    l->kind       = FIRE_PARAM_STATISTIC;
    l->stat_decay = p->moving_average_fraction;
    for (int i = 0; i < NBLOB; i++)
        FIRE_TRY(fire_layer_add_blob(l, 1, i == WEIGHT ? &one : &s->channels, NULL));
    return FIRE_OK;
}

static fire_status_t batch_norm_reshape(fire_layer_t *l)
{
    batch_norm_t      *s = FIRE_STATE(l, batch_norm_t);
    const fire_blob_t *x = l->bottom[0];
    char               shape[FIRE_SHAPE_TEXT];

    if (x->ndim < 2 || x->dim[1] != s->channels)
        return FIRE_FAIL(
            FIRE_ERR_INVALID,
            "the layer was made for %lld channels, the input's shape is %s",
            (long long)s->channels, fire_blob_shape_string(x, shape, sizeof(shape)));
    s->num   = x->dim[0];
    s->plane = fire_blob_count_range(x, 2, x->ndim);
    return fire_layer_reshape_same(l);
}

/* deviation: sqrt(var + eps) per channel. normal: y, which backward needs even if the
 * next layer works in place. work: one image-sized buffer. */
typedef struct batch_norm_ref {
    fire_scratch_t mean, deviation, normal, work, partial, ones;
} batch_norm_ref_t;

static fire_status_t batch_norm_prepare(fire_layer_t *l)
{
    const batch_norm_t *s = FIRE_STATE(l, batch_norm_t);
    batch_norm_ref_t   *r = l->kernel_state;

    if (r == NULL) FIRE_TRY(FIRE_NEW(&r, 1));
    l->kernel_state = r;
    FIRE_TRY(fire_scratch_fit(&r->mean, s->channels));
    FIRE_TRY(fire_scratch_fit(&r->deviation, s->channels));
    FIRE_TRY(fire_scratch_fit(&r->partial, s->num * s->channels));
    FIRE_TRY(fire_scratch_fit(&r->normal, fire_blob_count(l->bottom[0])));
    FIRE_TRY(fire_scratch_fit(&r->work, fire_blob_count(l->bottom[0])));
    return fire_scratch_ones(&r->ones, s->num > s->plane ? s->num : s->plane);
}

static void batch_norm_release(fire_layer_t *l)
{
    batch_norm_ref_t *r = l->kernel_state;

    if (r == NULL) return;
    fire_scratch_free(&r->mean);
    fire_scratch_free(&r->deviation);
    fire_scratch_free(&r->normal);
    fire_scratch_free(&r->work);
    fire_scratch_free(&r->partial);
    fire_scratch_free(&r->ones);
    fire_free(r);
    l->kernel_state = NULL;
}

/* out[channel] = weight * sum over images and places; first each plane, then images. */
static void sum_channels(const batch_norm_t *s, batch_norm_ref_t *r, float weight,
                         const float *x, float *out)
{
    fire_gemv(FIRE_NO_TRANS, s->num * s->channels, s->plane, weight, x, r->ones.x, 0.0f,
              r->partial.x);
    fire_gemv(FIRE_TRANS, s->num, s->channels, 1.0f, r->partial.x, r->ones.x, 0.0f,
              out);
}

/* for each element i of channel c */
#define EACH_ELEMENT(s, i, c)                                           \
    for (int64_t nc_ = 0, i = 0; nc_ < (s)->num * (s)->channels; nc_++) \
        for (int64_t c = nc_ % (s)->channels, end_ = i + (s)->plane; i < end_; i++)

static fire_status_t read_global(fire_layer_t *l, float *mean, float *variance)
{
    int64_t      channels = FIRE_STATE(l, batch_norm_t)->channels;
    const float *sum_mean, *sum_variance, *weight;
    float        scale;

    FIRE_IN(l, l->blob[MEAN], FIRE_DATA, &sum_mean);
    FIRE_IN(l, l->blob[VARIANCE], FIRE_DATA, &sum_variance);
    FIRE_IN(l, l->blob[WEIGHT], FIRE_DATA, &weight);
    scale = weight[0] == 0.0f ? 0.0f : 1.0f / weight[0];
    for (int64_t c = 0; c < channels; c++) {
        mean[c]     = scale * sum_mean[c];
        variance[c] = scale * sum_variance[c];
    }
    return FIRE_OK;
}

/* Decay the statistics and add this batch's, in the parameters themselves or, where
 * several lanes contribute to one update, in their diffs. */
static fire_status_t update_global(fire_layer_t *l, const float *mean,
                                   const float *variance)
{
    const batch_norm_t *s        = FIRE_STATE(l, batch_norm_t);
    fire_part_t         part     = l->moment->defer_stats ? FIRE_DIFF : FIRE_DATA;
    int64_t             m        = s->num * s->plane;
    float               unbiased = m > 1 ? (float)m / (float)(m - 1) : 1.0f;
    float              *sum_mean, *sum_variance, *weight;

    FIRE_INOUT(l, l->blob[MEAN], part, &sum_mean);
    FIRE_INOUT(l, l->blob[VARIANCE], part, &sum_variance);
    FIRE_INOUT(l, l->blob[WEIGHT], part, &weight);
    weight[0] *= l->stat_decay;
    weight[0] += 1.0f;
    fire_axpby(s->channels, 1.0f, mean, l->stat_decay, sum_mean);
    fire_axpby(s->channels, unbiased, variance, l->stat_decay, sum_variance);
    return FIRE_OK;
}

static fire_status_t batch_norm_forward(fire_layer_t *l)
{
    const batch_norm_t *s    = FIRE_STATE(l, batch_norm_t);
    batch_norm_ref_t   *r    = l->kernel_state;
    float              *mean = r->mean.x, *deviation = r->deviation.x;
    float               weight = (float)(1.0 / (double)(s->num * s->plane));
    const float        *x;
    float              *y;

    FIRE_IN(l, l->bottom[0], FIRE_DATA, &x);
    FIRE_OUT(l, l->top[0], FIRE_DATA, &y);
    if (s->use_global)
        FIRE_TRY(read_global(l, mean, deviation));
    else
        sum_channels(s, r, weight, x, mean);
    EACH_ELEMENT(s, i, c)
    y[i] = x[i] - mean[c];
    if (!s->use_global) {
        for (int64_t i = 0; i < fire_blob_count(l->top[0]); i++)
            r->work.x[i] = y[i] * y[i];
        sum_channels(s, r, weight, r->work.x, deviation);
        FIRE_TRY(update_global(l, mean, deviation));
    }
    for (int64_t c = 0; c < s->channels; c++)
        deviation[c] = sqrtf(deviation[c] + s->eps);
    EACH_ELEMENT(s, i, c)
    r->normal.x[i] = y[i] = y[i] / deviation[c];
    return FIRE_OK;
}

/* With y normalised over m elements:
 *   dx = (dy - mean(dy) - mean(dy y) y) / deviation */
static void backward_batch(const fire_layer_t *l, const float *dy, float *dx)
{
    const batch_norm_t *s    = FIRE_STATE(l, batch_norm_t);
    batch_norm_ref_t   *r    = l->kernel_state;
    const float        *y    = r->normal.x;
    float              *work = r->work.x, *sum = r->mean.x;
    int64_t             n = fire_blob_count(l->top[0]);

    for (int64_t i = 0; i < n; i++)
        work[i] = y[i] * dy[i];
    sum_channels(s, r, 1.0f, work, sum);
    EACH_ELEMENT(s, i, c)
    work[i] = y[i] * sum[c];
    sum_channels(s, r, 1.0f, dy, sum);
    EACH_ELEMENT(s, i, c)
    work[i] += sum[c];
    fire_axpby(n, 1.0f, dy, (float)(-1.0 / (double)(s->num * s->plane)), work);
    EACH_ELEMENT(s, i, c)
    dx[i] = work[i] / r->deviation.x[c];
}

static fire_status_t batch_norm_backward(fire_layer_t *l)
{
    const batch_norm_t     *s = FIRE_STATE(l, batch_norm_t);
    const batch_norm_ref_t *r = l->kernel_state;
    const float            *dy;
    float                  *dx;

    if (!l->propagate_down[0]) return FIRE_OK;
    FIRE_IN(l, l->top[0], FIRE_DIFF, &dy);
    FIRE_OUT(l, l->bottom[0], FIRE_DIFF, &dx);
    if (s->use_global) EACH_ELEMENT(s, i, c)
    dx[i] = dy[i] / r->deviation.x[c];
    else backward_batch(l, dy, dx);
    return FIRE_OK;
}

static const fire_kernel_t batch_norm_kernels[] = {
    {.name     = "ref",
     .prepare  = batch_norm_prepare,
     .forward  = batch_norm_forward,
     .backward = batch_norm_backward,
     .release  = batch_norm_release},
    {0},
};

const fire_layer_ops_t fire_layer_batch_norm = {
    .type       = "BatchNorm",
    .bottoms    = {1, 1},
    .tops       = {1, 1},
    .flags      = FIRE_LAYER_INPLACE,
    .state_size = sizeof(batch_norm_t),
    .setup      = batch_norm_setup,
    .reshape    = batch_norm_reshape,
    .kernels    = batch_norm_kernels,
};
