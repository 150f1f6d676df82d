/* deconvolution.c - the transpose of Convolution: every input element paints the
 * kernel, weighted, onto a larger image. Weights are (inputs, outputs / group, kernel). */
#include "layers/conv/conv.h"

static fire_status_t deconvolution_setup(fire_layer_t *l)
{
    return fire_conv_setup(l, true, false);
}

static const fire_kernel_t *const deconvolution_kernels[] = {
    FIRE_IF_CUDA(fire_conv_cuda) FIRE_IF_ONEDNN(fire_conv_onednn) &fire_conv_ref, NULL};

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
