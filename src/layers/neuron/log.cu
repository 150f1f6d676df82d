/* log.cu - Log on the GPU. */
#include "layers/neuron/formulas.h"
#include "layers/neuron/neuron_cuda.h"

static fire_status_t log_cuda_forward(fire_layer_t *l)
{
    fire_log_t *s = (fire_log_t *)l->state;

    FIRE_TRY(fire_kept_save(&s->kept, l));
    return fire_neuron_cuda_forward<fire_log_t, fire_log_y>(l);
}

static fire_status_t log_cuda_backward(fire_layer_t *l)
{
    fire_log_t *s = (fire_log_t *)l->state;

    return fire_neuron_cuda_backward<fire_log_t, fire_log_dx>(
        l, fire_kept_bottom(&s->kept, l));
}

extern "C" const fire_kernel_t fire_log_cuda = {"cuda", FIRE_GPU, log_cuda_forward,
                                                log_cuda_backward};
