/* exp.cu - Exp on the GPU. */
#include "layers/neuron/formulas.h"
#include "layers/neuron/neuron_cuda.h"

static fire_status_t exp_cuda_forward(fire_layer_t *l)
{
    return fire_neuron_cuda_forward<fire_exp_t, fire_exp_y>(l);
}

static fire_status_t exp_cuda_backward(fire_layer_t *l)
{
    return fire_neuron_cuda_backward<fire_exp_t, fire_exp_dx>(l, l->bottom[0]);
}

extern "C" const fire_kernel_t fire_exp_cuda = {"cuda", FIRE_GPU, exp_cuda_forward,
                                                exp_cuda_backward};
