/* deconvolution.c - Deconvolution, the transpose of Convolution: every input element
 * adds the kernel, times its value, to a patch of a larger image.
 *
 *     bottom: (N, C, H, W...)          top: (N, num_output, H', W'...)
 *     blob 0: (C, num_output / group, kernel...)       blob 1: (num_output), the bias
 *     H' = stride (H - 1) + dilation (kernel - 1) + 1 - 2 pad */
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
