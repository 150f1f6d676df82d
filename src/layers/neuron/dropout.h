/* dropout.h - what Dropout and SpatialDropout share: they differ only in how many
 * elements live or die together. */
#ifndef FIRE_LAYERS_NEURON_DROPOUT_H
#define FIRE_LAYERS_NEURON_DROPOUT_H
#include "layers/layer.h"

FIRE_BEGIN_C
/* The state of such a layer. */
typedef struct fire_dropout {
    float    scale;
    float    keep;      /* share of units that stay */
    uint32_t threshold; /* a unit stays if its random number is not below */
    int64_t  unit;      /* elements that share a number */
    uint8_t *mask;      /* of the last forward, one for each unit */
    int64_t  cap;
} fire_dropout_t;

fire_status_t fire_dropout_init(fire_dropout_t *s, float ratio);
fire_status_t fire_dropout_reshape(fire_layer_t *l, int64_t unit);
void          fire_dropout_teardown(fire_layer_t *l);

extern const fire_kernel_t *const fire_dropout_kernels[];
FIRE_END_C
#endif
