/* absval.c - y = |x| */
#include "layers/neuron/formulas.h"

static fire_status_t absval_forward(fire_layer_t *l)
{
    FIRE_TRY(fire_kept_save(l->state, l));
    return fire_neuron_forward(l, fire_absval_y);
}

static fire_status_t absval_backward(fire_layer_t *l)
{
    return fire_neuron_backward(l, fire_kept_bottom(l->state, l), fire_absval_dx);
}

const fire_kernel_t fire_absval_ref = {
    .name     = "ref",
    .forward  = absval_forward,
    .backward = absval_backward,
};

extern const fire_kernel_t fire_absval_cuda; /* absval.cu */

static const fire_kernel_t *const absval_kernels[] = {
    FIRE_IF_CUDA(fire_absval_cuda) &fire_absval_ref, NULL};

const fire_layer_ops_t fire_layer_absval = {
    .type       = "AbsVal",
    .bottoms    = {1, 1},
    .tops       = {1, 1},
    .flags      = FIRE_LAYER_INPLACE,
    .state_size = sizeof(fire_kept_t),
    .reshape    = fire_layer_reshape_same,
    .teardown   = fire_kept_teardown,
    .kernels    = absval_kernels,
};
