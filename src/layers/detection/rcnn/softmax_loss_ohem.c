/* softmax_loss_ohem.c - SoftmaxWithLossOHEM of R-FCN (Dai and others, 2016):
 * SoftmaxWithLoss that also says what each region adds (top 2), for the choice of hard
 * examples. */
#include "layers/loss/softmax_loss.h"

const fire_layer_ops_t fire_layer_softmax_loss_ohem = {
    .type        = "SoftmaxWithLossOHEM",
    .bottoms     = {2, 2},
    .tops        = {1, 3},
    .flags       = FIRE_LAYER_LOSS | FIRE_LAYER_AUTO_TOP,
    .no_gradient = 1 << 1,
    .state_size  = sizeof(fire_softmax_loss_t),
    .setup       = fire_softmax_loss_setup,
    .reshape     = fire_softmax_loss_reshape,
    .teardown    = fire_softmax_loss_teardown,
    .kernels     = fire_softmax_loss_kernels,
};
