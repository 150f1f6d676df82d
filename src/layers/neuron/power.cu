/* power.cu - Power on the GPU. */
#include "layers/neuron/formulas.h"
#include "layers/neuron/neuron_cuda.h"

static fire_status_t power_cuda_forward(fire_layer_t *l)
{
    fire_power_t *s = (fire_power_t *)l->state;

    if (s->power != 1.0f) FIRE_TRY(fire_kept_save(&s->kept, l));
    return fire_neuron_cuda_forward<fire_power_t, fire_power_y>(l);
}

static fire_status_t power_cuda_backward(fire_layer_t *l)
{
    fire_power_t *s = (fire_power_t *)l->state;

    return fire_neuron_cuda_backward<fire_power_t, fire_power_dx>(
        l, fire_kept_bottom(&s->kept, l));
}

extern "C" const fire_kernel_t fire_power_cuda = {"cuda", FIRE_GPU, power_cuda_forward,
                                                  power_cuda_backward};
