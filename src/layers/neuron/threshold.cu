/* threshold.cu - Threshold on the GPU. */
#include "layers/neuron/formulas.h"
#include "layers/neuron/neuron_cuda.h"

static fire_status_t threshold_cuda_forward(fire_layer_t *l)
{
    return fire_neuron_cuda_forward<fire_threshold_t, fire_threshold_y>(l);
}

extern "C" const fire_kernel_t fire_threshold_cuda = {"cuda", FIRE_GPU,
                                                      threshold_cuda_forward};
