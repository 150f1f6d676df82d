/* tanh.c - y = tanh(x) */
#include "layers/neuron/formulas.h"

static fire_status_t tanh_forward(fire_layer_t *l)
{
    return fire_neuron_forward(l, fire_tanh_y);
}

static fire_status_t tanh_backward(fire_layer_t *l)
{
    return fire_neuron_backward(l, l->bottom[0], fire_tanh_dx);
}

const fire_kernel_t fire_tanh_ref = {
    .name     = "ref",
    .forward  = tanh_forward,
    .backward = tanh_backward,
};

extern const fire_kernel_t fire_tanh_cuda; /* tanh.cu */

static const fire_kernel_t *const tanh_kernels[] = {
    FIRE_IF_CUDA(fire_tanh_cuda) &fire_tanh_ref, NULL};

const fire_layer_ops_t fire_layer_tanh = {
    .type    = "TanH",
    .bottoms = {1, 1},
    .tops    = {1, 1},
    .flags   = FIRE_LAYER_INPLACE,
    .reshape = fire_layer_reshape_same,
    .kernels = tanh_kernels,
};
