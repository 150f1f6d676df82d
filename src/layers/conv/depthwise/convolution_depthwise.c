/* convolution_depthwise.c - ConvolutionDepthwise, a layer of several Caffe forks:
 * Convolution whose groups and outputs are the channels of the bottom. */
#include "layers/conv/conv.h"

fire_status_t fire_conv_depthwise_setup(fire_layer_t *l)
{
    return fire_conv_setup(l, false, true);
}

const fire_layer_ops_t fire_layer_convolution_depthwise = {
    .type       = "ConvolutionDepthwise",
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
