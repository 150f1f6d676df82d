/* large_margin_inner_product.c - LargeMarginInnerProduct, of L-Softmax (Liu et al. 2016):
 * an angular margin for the class of the label. See margin.c. Runs on the CPU. */
#include "layers/metric/margin.h"

static fire_status_t large_margin_inner_product_setup(fire_layer_t *l)
{
    return fire_margin_setup(l, l->param->largemargin_inner_product_param, false);
}

const fire_layer_ops_t fire_layer_large_margin_inner_product = {
    .type        = "LargeMarginInnerProduct",
    .bottoms     = {2, 2},
    .tops        = {1, 2},
    .flags       = FIRE_LAYER_HOST,
    .no_gradient = 1u << 1, /* labels */
    .state_size  = sizeof(fire_margin_t),
    .setup       = large_margin_inner_product_setup,
    .reshape     = fire_margin_reshape,
    .teardown    = fire_margin_teardown,
    .macs        = fire_margin_macs,
    .kernels     = fire_margin_kernels,
};
