/* bnll.cu - BNLL on the GPU. */
#include "layers/neuron/formulas.h"
#include "layers/neuron/neuron_cuda.h"

static fire_status_t bnll_cuda_forward(fire_layer_t *l)
{
    FIRE_TRY(fire_kept_save((fire_kept_t *)l->state, l));
    return fire_neuron_cuda_forward<fire_no_settings, fire_bnll_y>(l);
}

static fire_status_t bnll_cuda_backward(fire_layer_t *l)
{
    return fire_neuron_cuda_backward<fire_no_settings, fire_bnll_dx>(
        l, fire_kept_bottom((fire_kept_t *)l->state, l));
}

extern "C" const fire_kernel_t fire_bnll_cuda = {"cuda", FIRE_GPU, bnll_cuda_forward,
                                                 bnll_cuda_backward};
