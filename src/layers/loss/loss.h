/* loss.h - what losses and Accuracy share: reading of labels, their weights, and the
 * normalizer by which a loss is divided. */
#ifndef FIRE_LAYERS_LOSS_LOSS_H
#define FIRE_LAYERS_LOSS_LOSS_H
#include "base/everywhere.h"
#include "layers/layer.h"

FIRE_BEGIN_C
typedef Caffe__LossParameter__NormalizationMode fire_loss_mode_t;

/* The settings of loss_param. */
typedef struct fire_loss {
    bool             has_ignore;
    int              ignore;    /* label that does not count, if has_ignore */
    fire_loss_mode_t mode;      /* what the loss is divided by */
    fire_blob_t     *of_class;  /* (classes) class_weighting; owned; NULL: all 1 */
    float            smoothing; /* label_smoothing */
    float            fixed;     /* the divisor of PRE_FIXED */
} fire_loss_t;

/* The weights of labels, where the layer computes: a label counts as much as the weight
 * of its class times that of its item. What a loss is divided by does not change. */
typedef struct fire_weights {
    const float *of_class; /* (classes); NULL: all 1 */
    const float *of_item;  /* NULL: all 1 */
    int64_t      share;    /* labels that share a number of of_item */
} fire_weights_t;

FIRE_EVERYWHERE float fire_weight_of(fire_weights_t w, int64_t label, int64_t c)
{
    float weight = w.of_class != NULL ? w.of_class[c] : 1.0f;

    return w.of_item != NULL ? weight * w.of_item[label / w.share] : weight;
}

/* Read loss_param (NULL: not given): `normalization`, else the older `normalize`, else
 * `standard`. */
void fire_loss_init(fire_loss_t *s, const Caffe__LossParameter *p,
                    fire_loss_mode_t standard);

/* For setup: keep the weights of loss_param. smooths: does the layer know
 * label_smoothing? End with fire_loss_fini(). */
fire_status_t fire_loss_setup_weights(fire_loss_t *s, const Caffe__LossParameter *p,
                                      bool smooths);
void          fire_loss_fini(fire_loss_t *s);

/* For reshape: check the numbers of weights for so many labels of bottom 1. Bottom
 * `which` (absent: no weights) has one for each item, or one for each label. */
fire_status_t fire_loss_check_weights(const fire_layer_t *l, const fire_loss_t *s,
                                      int which, int64_t labels, int64_t classes);
/* For forward and backward. */
fire_status_t fire_loss_weights(fire_layer_t *l, const fire_loss_t *s, int which,
                                int64_t labels, fire_weights_t *weights_p);

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
