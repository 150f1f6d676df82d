/* relu6.c - y = min(max(x, 0), 6), as MobileNet v2 uses it */
#include "layers/neuron/formulas.h"

static fire_status_t relu6_forward(fire_layer_t *l)
{
    return fire_neuron_forward(l, fire_relu6_y);
}

static fire_status_t relu6_backward(fire_layer_t *l)
{
    return fire_neuron_backward(l, l->bottom[0], fire_relu6_dx);
}

const fire_kernel_t fire_relu6_ref = {
    .name     = "ref",
    .forward  = relu6_forward,
    .backward = relu6_backward,
};

extern const fire_kernel_t fire_relu6_cuda; /* relu6.cu */

static const fire_kernel_t *const relu6_kernels[] = {
    FIRE_IF_CUDA(fire_relu6_cuda) &fire_relu6_ref, NULL};

const fire_layer_ops_t fire_layer_relu6 = {
    .type    = "ReLU6",
    .bottoms = {1, 1},
    .tops    = {1, 1},
    .flags   = FIRE_LAYER_INPLACE,
    .reshape = fire_layer_reshape_same,
    .kernels = relu6_kernels,
};
