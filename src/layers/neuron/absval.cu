/* absval.cu - AbsVal on the GPU. */
#include "layers/neuron/formulas.h"
#include "layers/neuron/neuron_cuda.h"

static fire_status_t absval_cuda_forward(fire_layer_t *l)
{
    FIRE_TRY(fire_kept_save((fire_kept_t *)l->state, l));
    return fire_neuron_cuda_forward<fire_no_settings, fire_absval_y>(l);
}

static fire_status_t absval_cuda_backward(fire_layer_t *l)
{
    return fire_neuron_cuda_backward<fire_no_settings, fire_absval_dx>(
        l, fire_kept_bottom((fire_kept_t *)l->state, l));
}

extern "C" const fire_kernel_t fire_absval_cuda = {
    "cuda", FIRE_GPU, absval_cuda_forward, absval_cuda_backward};
