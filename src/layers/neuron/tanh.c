/* tanh.c - y = tanh(x) */
#include <math.h>

#include "layers/neuron/neuron.h"

static float tanh_y(const void *state, float x)
{
    (void)state;
    return tanhf(x);
}

static float tanh_dx(const void *state, float x, float y, float dy)
{
    (void)state, (void)x;
    return dy * (1 - y * y);
}

static fire_status_t tanh_forward(fire_layer_t *l)
{
    return fire_neuron_forward(l, tanh_y);
}

static fire_status_t tanh_backward(fire_layer_t *l)
{
    return fire_neuron_backward(l, l->bottom[0], tanh_dx);
}

static const fire_kernel_t tanh_kernels[] = {
    {.name = "ref", .forward = tanh_forward, .backward = tanh_backward},
    {0},
};

const fire_layer_ops_t fire_layer_tanh = {
    .type    = "TanH",
    .bottoms = {1, 1},
    .tops    = {1, 1},
    .flags   = FIRE_LAYER_INPLACE,
    .reshape = fire_layer_reshape_same,
    .kernels = tanh_kernels,
};
