/* loss.h - what losses and Accuracy share: how labels are read and what a loss is
 * divided by. */
#ifndef FIRE_LAYERS_LOSS_LOSS_H
#define FIRE_LAYERS_LOSS_LOSS_H
#include "layers/layer.h"

FIRE_BEGIN_C
typedef Caffe__LossParameter__NormalizationMode fire_loss_mode_t;

typedef struct fire_loss {
    bool             has_ignore;
    int              ignore;
    fire_loss_mode_t mode;
} fire_loss_t;

/* loss_param's wishes: `normalization` before the older `normalize` before
 * `standard`. */
void fire_loss_init(fire_loss_t *s, const Caffe__LossParameter *p,
                    fire_loss_mode_t standard);

/* As many items in the label as in the prediction; top 0 is a single number. */
fire_status_t fire_loss_reshape(fire_layer_t *l);

/* The same for losses that compare the bottoms element by element. */
fire_status_t fire_loss_reshape_pair(fire_layer_t *l);

/* What a sum over outer x inner labels, `valid` of them not ignored, is divided by. */
float fire_loss_normalizer(const fire_loss_t *s, int64_t outer, int64_t inner,
                           int64_t valid);

/* The class that a label means; FIRE_LABEL_IGNORED for one to leave out. Anything
 * else than a class of 0 ... classes-1 is an error that names the item. */
enum { FIRE_LABEL_IGNORED = -1 };
fire_status_t fire_loss_label(const fire_loss_t *s, float label, int64_t item,
                              int64_t classes, int64_t *class_p);
FIRE_END_C
#endif
