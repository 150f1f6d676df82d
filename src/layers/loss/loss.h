/* loss.h - what losses and Accuracy share: reading of labels, and the normalizer by
 * which a loss is divided. */
#ifndef FIRE_LAYERS_LOSS_LOSS_H
#define FIRE_LAYERS_LOSS_LOSS_H
#include "layers/layer.h"

FIRE_BEGIN_C
typedef Caffe__LossParameter__NormalizationMode fire_loss_mode_t;

/* The settings of loss_param. */
typedef struct fire_loss {
    bool             has_ignore;
    int              ignore; /* label that does not count, if has_ignore */
    fire_loss_mode_t mode;   /* what the loss is divided by */
    float            fixed;  /* the divisor of PRE_FIXED */
} fire_loss_t;

/* Read loss_param (NULL: not given): `normalization`, else the older `normalize`, else
 * `standard`. */
void fire_loss_init(fire_loss_t *s, const Caffe__LossParameter *p,
                    fire_loss_mode_t standard);

/* Reshape of a loss: both bottoms must have the same number of items; top 0 is a
 * scalar. */
fire_status_t fire_loss_reshape(fire_layer_t *l);

/* The same, and the bottoms must have the same number of elements. */
fire_status_t fire_loss_reshape_pair(fire_layer_t *l);

/* The number to divide a sum over outer x inner labels by, `valid` of them not ignored;
 * at least 1. */
float fire_loss_normalizer(const fire_loss_t *s, int64_t outer, int64_t inner,
                           int64_t valid);

/* Set *class_p to the class of a label, or to FIRE_LABEL_IGNORED. A label outside of 0
 * ... classes - 1 is an error that names the item. */
enum { FIRE_LABEL_IGNORED = -1 };
fire_status_t fire_loss_label(const fire_loss_t *s, float label, int64_t item,
                              int64_t classes, int64_t *class_p);
FIRE_END_C
#endif
