/* bnll.cu - BNLL on the GPU. */
#include "layers/neuron/formulas.h"
#include "layers/neuron/neuron_cuda.h"

static fire_status_t bnll_cuda_forward(fire_layer_t *l)
{
    fire_bnll_t *s = (fire_bnll_t *)l->state;

    FIRE_TRY(fire_kept_save(&s->kept, l));
    return fire_neuron_cuda_forward<fire_bnll_t, fire_bnll_y>(l);
}

static fire_status_t bnll_cuda_backward(fire_layer_t *l)
{
    fire_bnll_t *s = (fire_bnll_t *)l->state;

    return fire_neuron_cuda_backward<fire_bnll_t, fire_bnll_dx>(
        l, fire_kept_bottom(&s->kept, l));
}

extern "C" const fire_kernel_t fire_bnll_cuda = {"cuda", FIRE_GPU, bnll_cuda_forward,
                                                 bnll_cuda_backward};
