/* smooth_l1_loss.c - SmoothL1Loss of Fast R-CNN (Girshick, 2015): loss = sum w_out
 * f(w_in (a - b)) / N, where f(x) = (sigma x)^2 / 2 if |x| < 1 / sigma^2, else |x| - 1
 * / (2 sigma^2).
 *
 *   bottom 0, 1: (N, ...) a and b, of the same shape; both have a gradient
 *   bottom 2, 3: (N, ...) w_in and w_out (optional, else 1); the first Fast R-CNN had
 *                w_in alone
 *   top 0:       () loss */
#include "layers/loss/formulas.h"
#include "layers/loss/pair_loss.h"

/* The sum of w_out f(w_in (a - b)); stores w_in (a - b). */
static float smooth_sum(const fire_gpu_pair_t *p, float *diff)
{
    float sum = 0.0f;

    for (int64_t i = 0; i < p->n; i++) {
        diff[i] = p->a[i] - p->b[i];
        if (p->in != NULL) diff[i] *= p->in[i];
        sum += fire_smooth_l1(p->sigma2, diff[i]) * (p->out != NULL ? p->out[i] : 1.0f);
    }
    return sum;
}

/* f' at each difference, times both weights */
static void slope(const fire_gpu_pair_t *p, const float *diff, float weight, float *dx)
{
    for (int64_t i = 0; i < p->n; i++) {
        dx[i] = weight * fire_smooth_l1_slope(p->sigma2, diff[i]);
        if (p->in != NULL) dx[i] *= p->in[i] * (p->out != NULL ? p->out[i] : 1.0f);
    }
}

const fire_pair_rule_t fire_smooth_l1_rule = {FIRE_PAIR_SMOOTH, 1.0f, smooth_sum,
                                              slope};

static fire_status_t smooth_l1_setup(fire_layer_t *l)
{
    const Caffe__SmoothL1LossParameter *p =
        FIRE_PARAM(l, smooth_l1_loss_param, CAFFE__SMOOTH_L1_LOSS_PARAMETER__INIT);
    fire_pair_loss_t *s = l->state;

    if (!(p->sigma > 0.0f))
        return FIRE_FAIL(FIRE_ERR_INVALID, "sigma %g; it must be positive",
                         (double)p->sigma);
    s->rule   = &fire_smooth_l1_rule;
    s->sigma2 = p->sigma * p->sigma;
    return FIRE_OK;
}

fire_status_t fire_smooth_l1_reshape(fire_layer_t *l)
{
    int64_t n = fire_blob_count(l->bottom[0]);

    for (int i = 2; i < l->nbottom; i++)
        if (fire_blob_count(l->bottom[i]) != n)
            return FIRE_FAIL(FIRE_ERR_INVALID,
                             "%lld weights in bottom %d for %lld predictions",
                             (long long)fire_blob_count(l->bottom[i]), i, (long long)n);
    return fire_pair_loss_reshape(l);
}

const fire_layer_ops_t fire_layer_smooth_l1_loss = {
    .type        = "SmoothL1Loss",
    .bottoms     = {2, 4},
    .tops        = {1, 1},
    .flags       = FIRE_LAYER_LOSS | FIRE_LAYER_AUTO_TOP,
    .no_gradient = 3 << 2,
    .state_size  = sizeof(fire_pair_loss_t),
    .setup       = smooth_l1_setup,
    .reshape     = fire_smooth_l1_reshape,
    .teardown    = fire_pair_loss_teardown,
    .kernels     = fire_pair_loss_kernels,
};
