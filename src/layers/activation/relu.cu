/* relu.cu - ReLU on the GPU. */
#include "layers/neuron/formulas.h"
#include "layers/neuron/neuron_cuda.h"

static fire_status_t relu_cuda_forward(fire_layer_t *l)
{
    fire_relu_t *s = (fire_relu_t *)l->state;

    if (s->slope < 0) FIRE_TRY(fire_kept_save(&s->kept, l));
    return fire_neuron_cuda_forward<fire_relu_t, fire_relu_y>(l);
}

static fire_status_t relu_cuda_backward(fire_layer_t *l)
{
    fire_relu_t *s = (fire_relu_t *)l->state;

    return fire_neuron_cuda_backward<fire_relu_t, fire_relu_dx>(
        l, fire_kept_bottom(&s->kept, l));
}

extern "C" const fire_kernel_t fire_relu_cuda = {"cuda", FIRE_GPU, relu_cuda_forward,
                                                 relu_cuda_backward};
