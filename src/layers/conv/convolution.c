/* convolution.c - Convolution: y = W * x + b over any number of spatial axes, with
 * groups, stride, padding and dilation.
 *
 *     bottom: (N, C, H, W...)          top: (N, num_output, H', W'...)
 *     blob 0: (num_output, C / group, kernel...)       blob 1: (num_output), the bias
 *     H' = (H + 2 pad - (dilation (kernel - 1) + 1)) / stride + 1
 *
 * Several bottom/top pairs of one shape share the weights. */
#include "layers/conv/conv.h"

static fire_status_t convolution_setup(fire_layer_t *l)
{
    return fire_conv_setup(l, false, false);
}

const fire_kernel_t *const fire_convolution_kernels[] = {
    FIRE_IF_CUDA(fire_depthwise_cuda) FIRE_IF_CUDA(fire_conv_small)
        FIRE_IF_CUDNN(fire_conv_cudnn)
            FIRE_IF_CUDA(fire_conv_cuda) &fire_depthwise_simd,
    &fire_conv_winograd, FIRE_IF_ONEDNN(fire_conv_onednn) &fire_depthwise_direct,
    &fire_conv_ref, NULL};

const fire_layer_ops_t fire_layer_convolution = {
    .type       = "Convolution",
    .bottoms    = {1, -1},
    .tops       = {1, -1},
    .flags      = FIRE_LAYER_PAIRED,
    .state_size = sizeof(fire_conv_t),
    .setup      = convolution_setup,
    .reshape    = fire_conv_reshape,
    .teardown   = fire_conv_teardown,
    .macs       = fire_conv_macs,
    .kernels    = fire_convolution_kernels,
};
