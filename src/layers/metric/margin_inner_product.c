/* margin_inner_product.c - MarginInnerProduct, of SphereFace (Liu et al. 2017): weights of
 * length 1, and an angular margin for the class of the label. See margin.c. Runs on the
 * CPU. */
#include "layers/metric/margin.h"

static fire_status_t margin_inner_product_setup(fire_layer_t *l)
{
    return fire_margin_setup(l, l->param->margin_inner_product_param, true);
}

const fire_layer_ops_t fire_layer_margin_inner_product = {
    .type        = "MarginInnerProduct",
    .bottoms     = {2, 2},
    .tops        = {1, 2},
    .flags       = FIRE_LAYER_HOST,
    .no_gradient = 1u << 1, /* labels */
    .state_size  = sizeof(fire_margin_t),
    .setup       = margin_inner_product_setup,
    .reshape     = fire_margin_reshape,
    .teardown    = fire_margin_teardown,
    .macs        = fire_margin_macs,
    .kernels     = fire_margin_kernels,
};
