/* elu.cu - ELU on the GPU. */
#include "layers/neuron/formulas.h"
#include "layers/neuron/neuron_cuda.h"

static fire_status_t elu_cuda_forward(fire_layer_t *l)
{
    fire_elu_t *s = (fire_elu_t *)l->state;

    if (s->alpha < 0) FIRE_TRY(fire_kept_save(&s->kept, l));
    return fire_neuron_cuda_forward<fire_elu_t, fire_elu_y>(l);
}

static fire_status_t elu_cuda_backward(fire_layer_t *l)
{
    fire_elu_t *s = (fire_elu_t *)l->state;

    return fire_neuron_cuda_backward<fire_elu_t, fire_elu_dx>(
        l, fire_kept_bottom(&s->kept, l));
}

extern "C" const fire_kernel_t fire_elu_cuda = {"cuda", FIRE_GPU, elu_cuda_forward,
                                                elu_cuda_backward};
