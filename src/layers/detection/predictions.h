/* predictions.h - the output of a detector's head: for each image and prior box an
 * encoded box (per class, or one for all) and a score per class. DetectionOutput and
 * MultiBoxLoss have it in their first three bottoms:
 *
 *   bottom 0: (N, priors * loc_classes * 4) locations
 *   bottom 1: (N, priors * classes) scores
 *   bottom 2: (1, 2, priors * 4) prior boxes; their variances in channel 1 */
#ifndef FIRE_LAYERS_DETECTION_PREDICTIONS_H
#define FIRE_LAYERS_DETECTION_PREDICTIONS_H
#include "layers/detection/bbox.h"

enum { FIRE_PREDICT_LOC, FIRE_PREDICT_CONF, FIRE_PREDICT_PRIOR };

/* Sizes and, during a pass, values of these bottoms. */
typedef struct fire_predictions {
    int64_t          images, priors;
    int              classes, loc_classes; /* loc_classes 1: one box for all classes */
    fire_bbox_code_t code;
    bool             variance_done; /* locations are not divided by the variances */

    const fire_bbox_t *loc;      /* [image][prior][loc_class] */
    const float       *conf;     /* [image][prior][class] */
    const fire_bbox_t *prior;    /* [prior] */
    const float       *variance; /* [prior][4] */
} fire_predictions_t;

/* Set the sizes from the shapes of the bottoms; fails if they contradict each other.
 * shared: one box for all classes. */
fire_status_t fire_predictions_shape(const fire_layer_t *l, uint32_t classes,
                                     bool shared, fire_predictions_t *p);
/* Point to the values of the bottoms; valid during a pass. */
fire_status_t fire_predictions_read(const fire_layer_t *l, fire_predictions_t *p);

static inline const float *fire_predictions_variance(const fire_predictions_t *p,
                                                     int64_t                   prior)
{
    return p->variance_done ? NULL : p->variance + 4 * prior;
}

/* Decode the box that is predicted for an image, prior and class (0 if shared). */
fire_bbox_t fire_predictions_box(const fire_predictions_t *p, int64_t image,
                                 int64_t prior, int loc_class);
#endif
