/* gelu.cu - GELU on the GPU; the functions are those of gelu.c. */
#include <math.h>

#include "layers/neuron/neuron_cuda.h"

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

static fire_status_t gelu_cuda_forward(fire_layer_t *l)
{
    FIRE_TRY(fire_kept_save((fire_kept_t *)l->state, l));
    return fire_neuron_cuda_forward<fire_no_settings, gelu_y>(l);
}

static fire_status_t gelu_cuda_backward(fire_layer_t *l)
{
    return fire_neuron_cuda_backward<fire_no_settings, gelu_dx>(
        l, fire_kept_bottom((fire_kept_t *)l->state, l));
}

extern "C" const fire_kernel_t fire_gelu_cuda = {"cuda", FIRE_GPU, gelu_cuda_forward,
                                                 gelu_cuda_backward};
