/* gelu.c - y = x Phi(x), where Phi is the distribution function of the normal
 * distribution (Hendrycks, Gimpel 2016); the exact form, without an approximation by
 * tanh */
#include <math.h>

#include "layers/neuron/neuron.h"

/* Phi(x) = (1 + erf(x / sqrt(2))) / 2, the share of a normal distribution below x */
FIRE_EVERYWHERE float gelu_phi(float x)
{
    return 0.5f * (1.0f + erff(x * 0.70710678f));
}

FIRE_EVERYWHERE float gelu_y(const void *state, float x)
{
    (void)state;
    return x * gelu_phi(x);
}

/* Phi'(x) = exp(-x^2 / 2) / sqrt(2 pi) */
FIRE_EVERYWHERE float gelu_dx(const void *state, float x, float y, float dy)
{
    (void)state, (void)y;
    return dy * (gelu_phi(x) + x * 0.39894228f * expf(-0.5f * x * x));
}

static fire_status_t gelu_forward(fire_layer_t *l)
{
    FIRE_TRY(fire_kept_save(l->state, l));
    return fire_neuron_forward(l, gelu_y);
}

static fire_status_t gelu_backward(fire_layer_t *l)
{
    return fire_neuron_backward(l, fire_kept_bottom(l->state, l), gelu_dx);
}

const fire_kernel_t fire_gelu_ref = {
    .name     = "ref",
    .forward  = gelu_forward,
    .backward = gelu_backward,
};

extern const fire_kernel_t fire_gelu_cuda; /* gelu.cu */

static const fire_kernel_t *const gelu_kernels[] = {
    FIRE_IF_CUDA(fire_gelu_cuda) &fire_gelu_ref, NULL};

const fire_layer_ops_t fire_layer_gelu = {
    .type       = "GELU",
    .bottoms    = {1, 1},
    .tops       = {1, 1},
    .flags      = FIRE_LAYER_INPLACE,
    .state_size = sizeof(fire_kept_t),
    .reshape    = fire_layer_reshape_same,
    .teardown   = fire_kept_teardown,
    .kernels    = gelu_kernels,
};
