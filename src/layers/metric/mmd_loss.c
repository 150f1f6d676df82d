/* mmd_loss.c - MMDLoss (Long et al. 2015): how far apart the distributions of two sets
 * of items are, by a sum of kernel_num Gaussian kernels whose widths differ by
 * kernel_mul. Runs on the CPU.
 *
 *   bottom 0: (N, ...) source      bottom 1: (M, ...) target, items of the same size
 *   top 0:    () loss
 *
 * loss = mean k(s, s') + mean k(t, t') - 2 mean k(s, t) over all pairs of different items;
 * Xlearn draws some pairs by chance instead. The middle kernel's width is the mean squared
 * distance of all pairs, which has no gradient; with fix_gamma that of the first pass. */
#include <math.h>

#include "layers/layer.h"

typedef struct mmd_loss {
    int64_t source, target, dim;
    float   gamma; /* 1 / width; 0: none yet */
} mmd_loss_t;

/* The items of both bottoms, one after the other. */
typedef struct items {
    const float *source, *target;
} items_t;

static const Caffe__MMDParameter *settings(const fire_layer_t *l)
{
    static const Caffe__MMDParameter none = CAFFE__MMDPARAMETER__INIT;

    return l->param->mmd_param != NULL ? l->param->mmd_param : &none;
}

static fire_status_t mmd_setup(fire_layer_t *l)
{
    const Caffe__MMDParameter *p = settings(l);

    if (p->kernel_num < 1 || p->kernel_num > 64 || !(p->kernel_mul > 0))
        return FIRE_FAIL(
            FIRE_ERR_INVALID,
            "mmd_param: kernel_num %u must be from 1 to 64 and kernel_mul %g "
            "positive",
            p->kernel_num, (double)p->kernel_mul);
    return FIRE_OK;
}

static fire_status_t mmd_reshape(fire_layer_t *l)
{
    mmd_loss_t *s = FIRE_STATE(l, mmd_loss_t);

    s->source = fire_blob_dim_or_1(l->bottom[0], 0);
    s->target = fire_blob_dim_or_1(l->bottom[1], 0);
    if (s->source < 2 || s->target < 2 ||
        fire_blob_count(l->bottom[0]) / s->source !=
            fire_blob_count(l->bottom[1]) / s->target)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "both bottoms must have at least 2 items, of the same size");
    s->dim = fire_blob_count(l->bottom[0]) / s->source;
    return fire_blob_reshape(l->top[0], 0, NULL);
}

static const float *item_at(const mmd_loss_t *s, const items_t *x, int64_t i)
{
    return i < s->source ? x->source + i * s->dim
                         : x->target + (i - s->source) * s->dim;
}

static float squared_distance(const mmd_loss_t *s, const float *a, const float *b)
{
    float sum = 0.0f;

    for (int64_t k = 0; k < s->dim; k++)
        sum += (a[k] - b[k]) * (a[k] - b[k]);
    return sum;
}

/* The weight of a pair of different items in the loss. */
static float share_of(const mmd_loss_t *s, int64_t i, int64_t j)
{
    float n = (float)s->source, m = (float)s->target;

    if ((i < s->source) != (j < s->source)) return -1.0f / (n * m);
    return i < s->source ? 1.0f / (n * (n - 1)) : 1.0f / (m * (m - 1));
}

/* The sum of the kernels of a squared distance; *slope_p: its derivative. */
static float kernels_of(const fire_layer_t *l, float distance, float *slope_p)
{
    const Caffe__MMDParameter *p     = settings(l);
    float                      gamma = FIRE_STATE(l, mmd_loss_t)->gamma, sum = 0.0f;

    gamma /= powf(p->kernel_mul, (float)(p->kernel_num / 2));
    *slope_p = 0.0f;
    for (unsigned k = 0; k < p->kernel_num; k++, gamma *= p->kernel_mul) {
        float e = expf(-gamma * distance);

        sum += e;
        *slope_p -= gamma * e;
    }
    return sum;
}

static void choose_width(fire_layer_t *l, const items_t *x)
{
    mmd_loss_t *s   = FIRE_STATE(l, mmd_loss_t);
    int64_t     n   = s->source + s->target;
    float       sum = 0.0f;

    if (settings(l)->fix_gamma && s->gamma > 0.0f) return;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++)
            sum += squared_distance(s, item_at(s, x, i), item_at(s, x, j));
    s->gamma = sum > 0.0f ? (float)(n * n - n) / sum : 1.0f;
}

static fire_status_t mmd_forward(fire_layer_t *l)
{
    mmd_loss_t *s = FIRE_STATE(l, mmd_loss_t);
    int64_t     n = s->source + s->target;
    items_t     x;
    float      *loss, sum = 0.0f, slope;

    FIRE_IN(l, l->bottom[0], FIRE_DATA, &x.source);
    FIRE_IN(l, l->bottom[1], FIRE_DATA, &x.target);
    FIRE_OUT(l, l->top[0], FIRE_DATA, &loss);
    choose_width(l, &x);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) {
            float d = squared_distance(s, item_at(s, &x, i), item_at(s, &x, j));

            if (i != j) sum += share_of(s, i, j) * kernels_of(l, d, &slope);
        }
    loss[0] = sum;
    return FIRE_OK;
}

/* Each item is in a pair twice: as the first and as the second. */
static void gradient(const fire_layer_t *l, const items_t *x, int64_t i, float weight,
                     float *dx)
{
    const mmd_loss_t *s = FIRE_STATE(l, mmd_loss_t);
    const float      *a = item_at(s, x, i);
    float             slope;

    for (int64_t k = 0; k < s->dim; k++)
        dx[k] = 0.0f;
    for (int64_t j = 0; j < s->source + s->target; j++) {
        const float *b = item_at(s, x, j);

        if (i == j) continue;
        kernels_of(l, squared_distance(s, a, b), &slope);
        slope *= 4.0f * weight * share_of(s, i, j);
        for (int64_t k = 0; k < s->dim; k++)
            dx[k] += slope * (a[k] - b[k]);
    }
}

static fire_status_t mmd_backward(fire_layer_t *l)
{
    const mmd_loss_t *s = FIRE_STATE(l, mmd_loss_t);
    items_t           x;
    float            *dx, weight;

    FIRE_TRY(fire_layer_loss_weight(l, &weight));
    FIRE_IN(l, l->bottom[0], FIRE_DATA, &x.source);
    FIRE_IN(l, l->bottom[1], FIRE_DATA, &x.target);
    if (l->propagate_down[0]) {
        FIRE_OUT(l, l->bottom[0], FIRE_DIFF, &dx);
        for (int64_t i = 0; i < s->source; i++)
            gradient(l, &x, i, weight, dx + i * s->dim);
    }
    if (l->propagate_down[1]) {
        FIRE_OUT(l, l->bottom[1], FIRE_DIFF, &dx);
        for (int64_t i = 0; i < s->target; i++)
            gradient(l, &x, s->source + i, weight, dx + i * s->dim);
    }
    return FIRE_OK;
}

const fire_kernel_t fire_mmd_loss_ref = {
    .name     = "ref",
    .forward  = mmd_forward,
    .backward = mmd_backward,
};

static const fire_kernel_t *const mmd_loss_kernels[] = {&fire_mmd_loss_ref, NULL};

const fire_layer_ops_t fire_layer_mmd_loss = {
    .type       = "MMDLoss",
    .bottoms    = {2, 2},
    .tops       = {1, 1},
    .flags      = FIRE_LAYER_LOSS | FIRE_LAYER_AUTO_TOP | FIRE_LAYER_HOST,
    .state_size = sizeof(mmd_loss_t),
    .setup      = mmd_setup,
    .reshape    = mmd_reshape,
    .kernels    = mmd_loss_kernels,
};
