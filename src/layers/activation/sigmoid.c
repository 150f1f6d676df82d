/* sigmoid.c - y = 1 / (1 + exp(-x)), computed as 0.5 tanh(0.5 x) + 0.5 */
#include "layers/neuron/formulas.h"

static fire_status_t sigmoid_forward(fire_layer_t *l)
{
    return fire_neuron_forward(l, fire_sigmoid_y);
}

static fire_status_t sigmoid_backward(fire_layer_t *l)
{
    return fire_neuron_backward(l, l->bottom[0], fire_sigmoid_dx);
}

const fire_kernel_t fire_sigmoid_ref = {
    .name     = "ref",
    .forward  = sigmoid_forward,
    .backward = sigmoid_backward,
};

extern const fire_kernel_t fire_sigmoid_cuda; /* sigmoid.cu */

static const fire_kernel_t *const sigmoid_kernels[] = {
    FIRE_IF_CUDA(fire_sigmoid_cuda) &fire_sigmoid_ref, NULL};

const fire_layer_ops_t fire_layer_sigmoid = {
    .type    = "Sigmoid",
    .bottoms = {1, 1},
    .tops    = {1, 1},
    .flags   = FIRE_LAYER_INPLACE,
    .reshape = fire_layer_reshape_same,
    .kernels = sigmoid_kernels,
};
