/* softmax_loss.h - the state of SoftmaxWithLoss, and what its kernels share. */
#ifndef FIRE_LAYERS_LOSS_SOFTMAX_LOSS_H
#define FIRE_LAYERS_LOSS_SOFTMAX_LOSS_H
#include "layers/common/softmax.h"
#include "layers/loss/softmax_target.h"

FIRE_BEGIN_C

typedef struct fire_softmax_loss {
    fire_loss_t    loss;
    fire_softmax_t softmax;
    fire_blob_t   *prob; /* softmax(x), for backward and the second top */
    bool soft; /* labels are probabilities of all classes: bottom 1 is like bottom 0 */
    bool general; /* soft, smoothed or weighted: as softmax_target.h has it */
} fire_softmax_loss_t;

/* What the weights t of softmax_target.h are computed from, where the layer runs. */
fire_status_t fire_softmax_loss_rule(fire_layer_t *l, fire_softmax_rule_t *rule_p);

/* What SoftmaxWithLoss and SoftmaxWithLossOHEM share. */
fire_status_t                     fire_softmax_loss_setup(fire_layer_t *l);
fire_status_t                     fire_softmax_loss_reshape(fire_layer_t *l);
void                              fire_softmax_loss_teardown(fire_layer_t *l);
extern const fire_kernel_t *const fire_softmax_loss_kernels[];

/* Compute top 0, and top 2 if there is one, from the softmax. */
fire_status_t fire_softmax_loss_sum(fire_layer_t *l, const float *prob);
/* *weight_p = gradient of the loss / normalizer, the factor of all gradients. */
fire_status_t fire_softmax_loss_weight(fire_layer_t *l, float *weight_p);
FIRE_END_C
#endif
