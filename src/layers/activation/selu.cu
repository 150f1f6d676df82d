/* selu.cu - SeLu on the GPU. */
#include "layers/activation/selu.h"

#include "layers/neuron/neuron_cuda.h"

static fire_status_t selu_cuda_forward(fire_layer_t *l)
{
    FIRE_TRY(fire_kept_save(&((fire_selu_t *)l->state)->kept, l));
    return fire_neuron_cuda_forward<fire_selu_t, fire_selu_y>(l);
}

static fire_status_t selu_cuda_backward(fire_layer_t *l)
{
    fire_blob_t *x = fire_kept_bottom(&((fire_selu_t *)l->state)->kept, l);

    return fire_neuron_cuda_backward<fire_selu_t, fire_selu_dx>(l, x);
}

extern "C" const fire_kernel_t fire_selu_cuda = {"cuda", FIRE_GPU, selu_cuda_forward,
                                                 selu_cuda_backward};
