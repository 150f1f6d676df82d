/* relu6.c - y = min(max(x, 0), 6), as MobileNet v2 uses it */
#include "layers/neuron/neuron.h"

static float relu6_y(const void *state, float x)
{
    (void)state;
    return fire_min(fire_max(x, 0.0f), 6.0f);
}

/* y tells as well as x, so in place needs nothing more. */
static float relu6_dx(const void *state, float x, float y, float dy)
{
    (void)state, (void)x;
    return dy * (float)(y > 0.0f && y < 6.0f);
}

static fire_status_t relu6_forward(fire_layer_t *l)
{
    return fire_neuron_forward(l, relu6_y);
}

static fire_status_t relu6_backward(fire_layer_t *l)
{
    return fire_neuron_backward(l, l->bottom[0], relu6_dx);
}

static const fire_kernel_t relu6_kernels[] = {
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
