/* l1_loss.c - L1Loss: loss = sum |a - b| / N.
 *
 *   bottom 0, 1: (N, ...) a and b, of the same shape; both have a gradient
 *   top 0:       () loss */
#include "layers/loss/pair_loss.h"
#include "layers/scalar.h"

/* The sum of |a - b|, in the order of BLAS. */
static float sum_of_sizes(const fire_gpu_pair_t *p, float *diff)
{
    for (int64_t i = 0; i < p->n; i++)
        diff[i] = p->a[i] - p->b[i];
    return fire_asum(p->n, diff);
}

/* d|d| = sign(d) */
static void slope(const fire_gpu_pair_t *p, const float *diff, float weight, float *dx)
{
    for (int64_t i = 0; i < p->n; i++)
        dx[i] = weight * fire_sign(diff[i]);
}

static fire_status_t l1_setup(fire_layer_t *l)
{
    static const fire_pair_rule_t rule = {FIRE_PAIR_ABS, 1.0f, sum_of_sizes, slope};

    FIRE_STATE(l, fire_pair_loss_t)->rule = &rule;
    return FIRE_OK;
}

const fire_layer_ops_t fire_layer_l1_loss = {
    .type       = "L1Loss",
    .bottoms    = {2, 2},
    .tops       = {1, 1},
    .flags      = FIRE_LAYER_LOSS | FIRE_LAYER_AUTO_TOP,
    .state_size = sizeof(fire_pair_loss_t),
    .setup      = l1_setup,
    .reshape    = fire_pair_loss_reshape,
    .teardown   = fire_pair_loss_teardown,
    .kernels    = fire_pair_loss_kernels,
};
