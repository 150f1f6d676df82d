/* deconvolution.c - the transpose of Convolution: every input element paints the
 * kernel, weighted, onto a larger image. Weights are (inputs, outputs / group, kernel). */
#include "layers/conv/conv.h"

static fire_status_t deconvolution_setup(fire_layer_t *l)
{
    return fire_conv_setup(l, true, false);
}

static const fire_kernel_t deconvolution_kernels[] = {
    FIRE_CUDA_KERNEL_6(conv) /* where they are built in */
    FIRE_ONEDNN_KERNEL(conv){.name     = "ref",
                             .prepare  = fire_conv_ref_prepare,
                             .forward  = fire_conv_ref_forward,
                             .backward = fire_conv_ref_backward,
                             .release  = fire_conv_ref_release},
    {0},
};

const fire_layer_ops_t fire_layer_deconvolution = {
    .type       = "Deconvolution",
    .bottoms    = {1, -1},
    .tops       = {1, -1},
    .flags      = FIRE_LAYER_PAIRED,
    .state_size = sizeof(fire_conv_t),
    .setup      = deconvolution_setup,
    .reshape    = fire_conv_reshape,
    .macs       = fire_conv_macs,
    .kernels    = deconvolution_kernels,
};
