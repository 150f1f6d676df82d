/* convolution.c - y = W * x + b over any number of spatial axes, with groups, stride,
 * padding and dilation. Several bottom/top pairs share the weights. */
#include "layers/conv/conv.h"

static fire_status_t convolution_setup(fire_layer_t *l)
{
    return fire_conv_setup(l, false, false);
}

const fire_kernel_t fire_convolution_kernels[] = {
    FIRE_CUDA_DIRECT /* where they are built in */
        FIRE_CUDNN_KERNEL(conv) FIRE_CUDA_KERNEL_6(conv)
            FIRE_KERNEL("simd", depthwise_simd),
    FIRE_KERNEL("winograd", conv_winograd),
    FIRE_ONEDNN_KERNEL(conv){.name     = "direct",
                             .declines = fire_depthwise_declines,
                             .forward  = fire_depthwise_forward,
                             .backward = fire_depthwise_backward},
    {.name     = "ref",
     .prepare  = fire_conv_ref_prepare,
     .forward  = fire_conv_ref_forward,
     .backward = fire_conv_ref_backward,
     .release  = fire_conv_ref_release},
    {0},
};

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
