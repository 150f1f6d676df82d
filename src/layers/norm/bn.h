/* bn.h - what BN and CuDNNBatchNorm share: y = gain * (x - mean) / sqrt(variance + eps)
 * + shift, with the parameters (1, C, 1, 1): gain, shift, running mean, running variance.
 * The running statistics are means: s = momentum * s + (1 - momentum) * the batch's,
 * whose variance is biased. */
#ifndef FIRE_LAYERS_NORM_BN_H
#define FIRE_LAYERS_NORM_BN_H
#include "layers/norm/batch_norm.h"

typedef struct fire_bn_settings {
    const Caffe__FillerParameter *gain, *shift; /* NULL: zeros, as the forks have it */
    float                         momentum, eps;
    bool frozen; /* normalise with the running statistics, learn nothing */
} fire_bn_settings_t;

/* Setup of such a layer. */
fire_status_t fire_bn_setup(fire_layer_t *l, const fire_bn_settings_t *p);
#endif
