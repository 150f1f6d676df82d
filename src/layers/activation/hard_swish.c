/* hard_swish.c - y = x min(max(x + 3, 0), 6) / 6, the piecewise form of Swish that
 * MobileNet v3 uses (Howard et al. 2019) */
#include "layers/neuron/neuron.h"

FIRE_EVERYWHERE float hard_swish_y(const void *state, float x)
{
    (void)state;
    return x * fire_min(fire_max(x + 3.0f, 0.0f), 6.0f) / 6.0f;
}

FIRE_EVERYWHERE float hard_swish_dx(const void *state, float x, float y, float dy)
{
    (void)state, (void)y;
    if (x <= -3.0f) return 0.0f;
    return x < 3.0f ? dy * (2.0f * x + 3.0f) / 6.0f : dy;
}

static fire_status_t hard_swish_forward(fire_layer_t *l)
{
    FIRE_TRY(fire_kept_save(l->state, l));
    return fire_neuron_forward(l, hard_swish_y);
}

static fire_status_t hard_swish_backward(fire_layer_t *l)
{
    return fire_neuron_backward(l, fire_kept_bottom(l->state, l), hard_swish_dx);
}

const fire_kernel_t fire_hard_swish_ref = {
    .name     = "ref",
    .forward  = hard_swish_forward,
    .backward = hard_swish_backward,
};

extern const fire_kernel_t fire_hard_swish_cuda; /* hard_swish.cu */

static const fire_kernel_t *const hard_swish_kernels[] = {
    FIRE_IF_CUDA(fire_hard_swish_cuda) &fire_hard_swish_ref, NULL};

const fire_layer_ops_t fire_layer_hard_swish = {
    .type       = "HardSwish",
    .bottoms    = {1, 1},
    .tops       = {1, 1},
    .flags      = FIRE_LAYER_INPLACE,
    .state_size = sizeof(fire_kept_t),
    .reshape    = fire_layer_reshape_same,
    .teardown   = fire_kept_teardown,
    .kernels    = hard_swish_kernels,
};
