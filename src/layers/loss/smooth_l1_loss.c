/* smooth_l1_loss.c - Fast R-CNN's loss = sum f(w_in (a - b)) w_out / N, with f(x) =
 * (sigma x)^2 / 2 near zero and |x| - 1 / (2 sigma^2) beyond |x| = 1 / sigma^2. The
 * weights are bottoms 2 and 3, or all 1. */
#include <math.h>

#include "device/cpu/blas.h"
#include "layers/loss/loss.h"
#include "layers/scalar.h"

typedef struct smooth_l1 {
    float          sigma2;
    fire_scratch_t diff; /* w_in (a - b) */
} smooth_l1_t;

static fire_status_t smooth_l1_reshape(fire_layer_t *l)
{
    const Caffe__SmoothL1LossParameter *p =
        FIRE_PARAM(l, smooth_l1_loss_param, CAFFE__SMOOTH_L1_LOSS_PARAMETER__INIT);
    smooth_l1_t *s = l->state;
    int64_t      n = fire_blob_count(l->bottom[0]);

    if (!(p->sigma > 0.0f))
        return FIRE_FAIL(FIRE_ERR_INVALID, "sigma %g; it must be positive",
                         (double)p->sigma);
    if (l->nbottom == 3)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "give both weights, inside and outside, or none");
    FIRE_TRY(fire_loss_reshape_pair(l));
    for (int i = 2; i < l->nbottom; i++)
        if (fire_blob_count(l->bottom[i]) != n)
            return FIRE_FAIL(FIRE_ERR_INVALID,
                             "%lld weights in bottom %d for %lld "
                             "predictions",
                             (long long)fire_blob_count(l->bottom[i]), i, (long long)n);
    s->sigma2 = p->sigma * p->sigma;
    return fire_scratch_fit(&s->diff, n);
}

static float smooth(const smooth_l1_t *s, float x)
{
    return fabsf(x) < 1.0f / s->sigma2 ? 0.5f * x * x * s->sigma2
                                       : fabsf(x) - 0.5f / s->sigma2;
}

static float slope(const smooth_l1_t *s, float x)
{
    return fabsf(x) < 1.0f / s->sigma2 ? s->sigma2 * x : fire_sign(x);
}

/* The weights, or NULL. */
static fire_status_t read_weights(fire_layer_t *l, const float **in_p,
                                  const float **out_p)
{
    *in_p = *out_p = NULL;
    if (l->nbottom < 4) return FIRE_OK;
    FIRE_IN(l, l->bottom[2], FIRE_DATA, in_p);
    FIRE_IN(l, l->bottom[3], FIRE_DATA, out_p);
    return FIRE_OK;
}

static fire_status_t smooth_l1_forward(fire_layer_t *l)
{
    const smooth_l1_t *s = l->state;
    int64_t            n = fire_blob_count(l->bottom[0]);
    const float       *a, *b, *in, *out;
    float             *top, *diff = s->diff.x, sum = 0.0f;

    FIRE_TRY(read_weights(l, &in, &out));
    FIRE_IN(l, l->bottom[0], FIRE_DATA, &a);
    FIRE_IN(l, l->bottom[1], FIRE_DATA, &b);
    FIRE_OUT(l, l->top[0], FIRE_DATA, &top);
    for (int64_t i = 0; i < n; i++) {
        diff[i] = a[i] - b[i];
        if (in != NULL) diff[i] *= in[i];
        sum += smooth(s, diff[i]) * (out != NULL ? out[i] : 1.0f);
    }
    top[0] = sum / (float)fire_blob_dim_or_1(l->bottom[0], 0);
    return FIRE_OK;
}

static fire_status_t smooth_l1_backward(fire_layer_t *l)
{
    const smooth_l1_t *s = l->state;
    int64_t            n = fire_blob_count(l->bottom[0]);
    const float       *in, *out;
    float             *dx, weight;

    FIRE_TRY(read_weights(l, &in, &out));
    FIRE_TRY(fire_layer_loss_weight(l, &weight));
    weight /= (float)fire_blob_dim_or_1(l->bottom[0], 0);
    for (int b = 0; b < 2; b++) {
        if (!l->propagate_down[b]) continue;
        FIRE_OUT(l, l->bottom[b], FIRE_DIFF, &dx);
        for (int64_t i = 0; i < n; i++) {
            dx[i] = (b == 0 ? weight : -weight) * slope(s, s->diff.x[i]);
            if (in != NULL) dx[i] *= in[i] * out[i];
        }
    }
    return FIRE_OK;
}

static void smooth_l1_teardown(fire_layer_t *l)
{
    fire_scratch_free(&FIRE_STATE(l, smooth_l1_t)->diff);
}

static const fire_kernel_t smooth_l1_kernels[] = {
    {.name = "ref", .forward = smooth_l1_forward, .backward = smooth_l1_backward},
    {0},
};

const fire_layer_ops_t fire_layer_smooth_l1_loss = {
    .type        = "SmoothL1Loss",
    .bottoms     = {2, 4},
    .tops        = {1, 1},
    .flags       = FIRE_LAYER_LOSS | FIRE_LAYER_AUTO_TOP,
    .no_gradient = 3 << 2,
    .state_size  = sizeof(smooth_l1_t),
    .reshape     = smooth_l1_reshape,
    .teardown    = smooth_l1_teardown,
    .kernels     = smooth_l1_kernels,
};
