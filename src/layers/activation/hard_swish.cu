/* hard_swish.cu - HardSwish on the GPU; the functions are those of hard_swish.c. */
#include "layers/neuron/neuron_cuda.h"

FIRE_EVERYWHERE float hard_swish_y(const void *state, float x)
{
    (void)state;
    return x * fire_min(fire_max(x + 3.0f, 0.0f), 6.0f) / 6.0f;
}

FIRE_EVERYWHERE float hard_swish_dx(const void *state, float x, float y, float dy)
{
    (void)state, (void)y;
    if (x <= -3.0f) return 0.0f;
    return x < 3.0f ? dy * (2.0f * x + 3.0f) / 6.0f : dy;
}

static fire_status_t hard_swish_cuda_forward(fire_layer_t *l)
{
    FIRE_TRY(fire_kept_save((fire_kept_t *)l->state, l));
    return fire_neuron_cuda_forward<fire_no_settings, hard_swish_y>(l);
}

static fire_status_t hard_swish_cuda_backward(fire_layer_t *l)
{
    return fire_neuron_cuda_backward<fire_no_settings, hard_swish_dx>(
        l, fire_kept_bottom((fire_kept_t *)l->state, l));
}

extern "C" const fire_kernel_t fire_hard_swish_cuda = {
    "cuda", FIRE_GPU, hard_swish_cuda_forward, hard_swish_cuda_backward};
