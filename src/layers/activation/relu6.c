/* relu6.c - y = min(max(x, 0), 6), as MobileNet v2 uses it */
#include "layers/kernels.h"
#include "layers/neuron/formulas.h"

static fire_status_t relu6_forward(fire_layer_t *l)
{
    return fire_neuron_forward(l, fire_relu6_y);
}

static fire_status_t relu6_backward(fire_layer_t *l)
{
    return fire_neuron_backward(l, l->bottom[0], fire_relu6_dx);
}

static const fire_kernel_t relu6_kernels[] = {
    FIRE_CUDA_KERNEL(relu6) /* where it is built in */
    {.name = "ref", .forward = relu6_forward, .backward = relu6_backward},
    {0},
};

const fire_layer_ops_t fire_layer_relu6 = {
    .type    = "ReLU6",
    .bottoms = {1, 1},
    .tops    = {1, 1},
    .flags   = FIRE_LAYER_INPLACE,
    .reshape = fire_layer_reshape_same,
    .kernels = relu6_kernels,
};
