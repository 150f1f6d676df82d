/* sigmoid.c - y = 1 / (1 + exp(-x)), computed as 0.5 tanh(0.5 x) + 0.5 */
#include <math.h>

#include "layers/neuron/neuron.h"

static float sigmoid_y(const void *state, float x)
{
    (void)state;
    return (float)(0.5 * tanh(0.5 * x) + 0.5);
}

static float sigmoid_dx(const void *state, float x, float y, float dy)
{
    (void)state, (void)x;
    return (float)(dy * y * (1.0 - y));
}

static fire_status_t sigmoid_forward(fire_layer_t *l)
{
    return fire_neuron_forward(l, sigmoid_y);
}

static fire_status_t sigmoid_backward(fire_layer_t *l)
{
    return fire_neuron_backward(l, l->bottom[0], sigmoid_dx);
}

static const fire_kernel_t sigmoid_kernels[] = {
    {.name = "ref", .forward = sigmoid_forward, .backward = sigmoid_backward},
    {0},
};

const fire_layer_ops_t fire_layer_sigmoid = {
    .type    = "Sigmoid",
    .bottoms = {1, 1},
    .tops    = {1, 1},
    .flags   = FIRE_LAYER_INPLACE,
    .reshape = fire_layer_reshape_same,
    .kernels = sigmoid_kernels,
};
