/* sigmoid.cu - Sigmoid on the GPU. */
#include "layers/neuron/formulas.h"
#include "layers/neuron/neuron_cuda.h"

static fire_status_t sigmoid_cuda_forward(fire_layer_t *l)
{
    return fire_neuron_cuda_forward<fire_no_settings, fire_sigmoid_y>(l);
}

static fire_status_t sigmoid_cuda_backward(fire_layer_t *l)
{
    return fire_neuron_cuda_backward<fire_no_settings, fire_sigmoid_dx>(l,
                                                                        l->bottom[0]);
}

extern "C" const fire_kernel_t fire_sigmoid_cuda = {
    "cuda", FIRE_GPU, sigmoid_cuda_forward, sigmoid_cuda_backward};
