/* bnll.c - binomial normal log likelihood: y = log(1 + exp(x)), also known as softplus.
 * For x > 0 it is computed as x + log(1 + exp(-x)), which does not overflow. */
#include "layers/neuron/formulas.h"

static fire_status_t bnll_forward(fire_layer_t *l)
{
    FIRE_TRY(fire_kept_save(l->state, l));
    return fire_neuron_forward(l, fire_bnll_y);
}

static fire_status_t bnll_backward(fire_layer_t *l)
{
    return fire_neuron_backward(l, fire_kept_bottom(l->state, l), fire_bnll_dx);
}

const fire_kernel_t fire_bnll_ref = {
    .name     = "ref",
    .forward  = bnll_forward,
    .backward = bnll_backward,
};

extern const fire_kernel_t fire_bnll_cuda; /* bnll.cu */

static const fire_kernel_t *const bnll_kernels[] = {
    FIRE_IF_CUDA(fire_bnll_cuda) &fire_bnll_ref, NULL};

const fire_layer_ops_t fire_layer_bnll = {
    .type       = "BNLL",
    .bottoms    = {1, 1},
    .tops       = {1, 1},
    .flags      = FIRE_LAYER_INPLACE,
    .state_size = sizeof(fire_kept_t),
    .reshape    = fire_layer_reshape_same,
    .teardown   = fire_kept_teardown,
    .kernels    = bnll_kernels,
};
