/* predictions.h - what a detector's head gives: for each image and prior box a box (per
 * class, or one for all) and a score per class. Shared by DetectionOutput and
 * MultiBoxLoss, whose first three bottoms are locations, scores and priors. */
#ifndef FIRE_LAYERS_DETECTION_PREDICTIONS_H
#define FIRE_LAYERS_DETECTION_PREDICTIONS_H
#include "layers/detection/bbox.h"

enum { FIRE_PREDICT_LOC, FIRE_PREDICT_CONF, FIRE_PREDICT_PRIOR };

typedef struct fire_predictions {
    int64_t          images, priors;
    int              classes, loc_classes; /* loc_classes 1: boxes are shared */
    fire_bbox_code_t code;
    bool             variance_done; /* is in the numbers already */

    const fire_bbox_t *loc;      /* [image][prior][loc_class] */
    const float       *conf;     /* [image][prior][class] */
    const fire_bbox_t *prior;    /* [prior] */
    const float       *variance; /* [prior][4] */
} fire_predictions_t;

/* Sizes, from the bottoms' shapes; fails where these do not belong together. */
fire_status_t fire_predictions_shape(const fire_layer_t *l, uint32_t classes,
                                     bool shared, fire_predictions_t *p);
fire_status_t fire_predictions_read(const fire_layer_t *l, fire_predictions_t *p);

static inline const float *fire_predictions_variance(const fire_predictions_t *p,
                                                     int64_t                   prior)
{
    return p->variance_done ? NULL : p->variance + 4 * prior;
}

/* The box that an image's prediction stands for. */
fire_bbox_t fire_predictions_box(const fire_predictions_t *p, int64_t image,
                                 int64_t prior, int loc_class);
#endif
