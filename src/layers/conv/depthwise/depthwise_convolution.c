/* depthwise_convolution.c - DepthwiseConvolution: ConvolutionDepthwise under the name
 * that other forks (MobileNet's, GENet's, MobileNet-YOLO's) have for it. */
#include "layers/conv/conv.h"

const fire_layer_ops_t fire_layer_depthwise_convolution = {
    .type       = "DepthwiseConvolution",
    .bottoms    = {1, -1},
    .tops       = {1, -1},
    .flags      = FIRE_LAYER_PAIRED,
    .state_size = sizeof(fire_conv_t),
    .setup      = fire_conv_depthwise_setup,
    .reshape    = fire_conv_reshape,
    .teardown   = fire_conv_teardown,
    .macs       = fire_conv_macs,
    .kernels    = fire_convolution_kernels,
};
