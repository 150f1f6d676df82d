/* silence.c - takes blobs that nobody reads, so that they are no outputs of the net */
#include "layers/layer.h"

static fire_status_t silence_reshape(fire_layer_t *l)
{
    (void)l;
    return FIRE_OK;
}

static fire_status_t silence_backward(fire_layer_t *l)
{
    for (int i = 0; i < l->nbottom; i++)
        if (l->propagate_down[i])
            FIRE_TRY(fire_blob_fill(l->bottom[i], FIRE_DIFF, l->kernel->where, 0.0f));
    return FIRE_OK;
}

static const fire_kernel_t silence_kernels[] = {
    FIRE_CUDA_ROW(.forward = silence_reshape, .backward = silence_backward){
        .name = "ref", .forward = silence_reshape, .backward = silence_backward},
    {0},
};

const fire_layer_ops_t fire_layer_silence = {
    .type    = "Silence",
    .bottoms = {1, -1},
    .tops    = {0, 0},
    .reshape = silence_reshape,
    .kernels = silence_kernels,
};
