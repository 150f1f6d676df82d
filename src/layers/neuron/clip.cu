/* clip.cu - Clip on the GPU. */
#include "layers/neuron/formulas.h"
#include "layers/neuron/neuron_cuda.h"

static fire_status_t clip_cuda_forward(fire_layer_t *l)
{
    fire_clip_t *s = (fire_clip_t *)l->state;

    FIRE_TRY(fire_kept_save(&s->kept, l));
    return fire_neuron_cuda_forward<fire_clip_t, fire_clip_y>(l);
}

static fire_status_t clip_cuda_backward(fire_layer_t *l)
{
    fire_clip_t *s = (fire_clip_t *)l->state;

    return fire_neuron_cuda_backward<fire_clip_t, fire_clip_dx>(
        l, fire_kept_bottom(&s->kept, l));
}

extern "C" const fire_kernel_t fire_clip_cuda = {"cuda", FIRE_GPU, clip_cuda_forward,
                                                 clip_cuda_backward};
