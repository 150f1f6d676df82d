/* euclidean_loss.c - EuclideanLoss: loss = sum((a - b)^2) / 2N.
 *
 *   bottom 0, 1: (N, ...) a and b, of the same shape; both have a gradient
 *   top 0:       () loss */
#include "layers/loss/pair_loss.h"

/* Caffe computes a dot product, so the order of additions is that of BLAS. */
static float half_of_squares(const fire_gpu_pair_t *p, float *diff)
{
    for (int64_t i = 0; i < p->n; i++)
        diff[i] = p->a[i] - p->b[i];
    return fire_dot(p->n, diff, diff) / 2.0f;
}

/* d(d^2 / 2) = d */
static void slope(const fire_gpu_pair_t *p, const float *diff, float weight, float *dx)
{
    for (int64_t i = 0; i < p->n; i++)
        dx[i] = weight * diff[i];
}

static fire_status_t euclidean_setup(fire_layer_t *l)
{
    static const fire_pair_rule_t rule = {FIRE_PAIR_SQUARE, 0.5f, half_of_squares,
                                          slope};

    FIRE_STATE(l, fire_pair_loss_t)->rule = &rule;
    return FIRE_OK;
}

const fire_layer_ops_t fire_layer_euclidean_loss = {
    .type       = "EuclideanLoss",
    .bottoms    = {2, 2},
    .tops       = {1, 1},
    .flags      = FIRE_LAYER_LOSS | FIRE_LAYER_AUTO_TOP,
    .state_size = sizeof(fire_pair_loss_t),
    .setup      = euclidean_setup,
    .reshape    = fire_pair_loss_reshape,
    .teardown   = fire_pair_loss_teardown,
    .kernels    = fire_pair_loss_kernels,
};
