/* silence.c - reads blobs and does nothing, so that they do not count as outputs of the
 * net, which are printed */
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

const fire_kernel_t fire_silence_cuda = {
    .name     = "cuda",
    .where    = FIRE_GPU,
    .forward  = silence_reshape,
    .backward = silence_backward,
};

const fire_kernel_t fire_silence_ref = {
    .name     = "ref",
    .forward  = silence_reshape,
    .backward = silence_backward,
};

static const fire_kernel_t *const silence_kernels[] = {
    FIRE_IF_CUDA(fire_silence_cuda) &fire_silence_ref, NULL};

const fire_layer_ops_t fire_layer_silence = {
    .type    = "Silence",
    .bottoms = {1, -1},
    .tops    = {0, 0},
    .reshape = silence_reshape,
    .kernels = silence_kernels,
};
