/* relu6.cu - ReLU6 on the GPU. */
#include "layers/neuron/formulas.h"
#include "layers/neuron/neuron_cuda.h"

static fire_status_t relu6_cuda_forward(fire_layer_t *l)
{
    return fire_neuron_cuda_forward<fire_no_settings, fire_relu6_y>(l);
}

static fire_status_t relu6_cuda_backward(fire_layer_t *l)
{
    return fire_neuron_cuda_backward<fire_no_settings, fire_relu6_dx>(l, l->bottom[0]);
}

extern "C" const fire_kernel_t fire_relu6_cuda = {"cuda", FIRE_GPU, relu6_cuda_forward,
                                                  relu6_cuda_backward};
