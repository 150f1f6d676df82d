/* swish.cu - Swish on the GPU. */
#include "layers/neuron/formulas.h"
#include "layers/neuron/neuron_cuda.h"

static fire_status_t swish_cuda_forward(fire_layer_t *l)
{
    fire_swish_t *s = (fire_swish_t *)l->state;

    FIRE_TRY(fire_kept_save(&s->kept, l));
    return fire_neuron_cuda_forward<fire_swish_t, fire_swish_y>(l);
}

static fire_status_t swish_cuda_backward(fire_layer_t *l)
{
    fire_swish_t *s = (fire_swish_t *)l->state;

    return fire_neuron_cuda_backward<fire_swish_t, fire_swish_dx>(
        l, fire_kept_bottom(&s->kept, l));
}

extern "C" const fire_kernel_t fire_swish_cuda = {"cuda", FIRE_GPU, swish_cuda_forward,
                                                  swish_cuda_backward};
