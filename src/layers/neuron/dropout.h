/* dropout.h - what Dropout and SpatialDropout share. Dropout draws a number for each
 * element, SpatialDropout one for each channel of each image: a unit. */
#ifndef FIRE_LAYERS_NEURON_DROPOUT_H
#define FIRE_LAYERS_NEURON_DROPOUT_H
#include "layers/layer.h"

FIRE_BEGIN_C
/* l->state of both layers. */
typedef struct fire_dropout {
    bool     draws; /* drops: in training, or with sample_weights_test */
    float    scale; /* what is kept is multiplied by it: in training 1 / keep, at test
                         * 1; with scale_train: false 1 and keep */
    float    keep;  /* 1 - dropout_ratio: the part of the units that stays */
    uint32_t threshold; /* a unit stays if its 32 random bits are >= this; 0 at test */
    int64_t  unit;      /* elements of one unit */
    uint8_t *mask;      /* [units] 1: stays; from the last forward, for backward */
    int64_t  cap;
} fire_dropout_t;

fire_status_t fire_dropout_init(fire_layer_t *l, float ratio,
                                const Caffe__DropoutParameter *p);
fire_status_t fire_dropout_reshape(fire_layer_t *l, int64_t unit);
void          fire_dropout_teardown(fire_layer_t *l);

extern const fire_kernel_t *const fire_dropout_kernels[];
FIRE_END_C
#endif
