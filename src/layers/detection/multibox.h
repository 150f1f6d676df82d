/* multibox.h - the state of MultiBoxLoss, shared by its loss and its matching. */
#ifndef FIRE_LAYERS_DETECTION_MULTIBOX_H
#define FIRE_LAYERS_DETECTION_MULTIBOX_H
#include "layers/detection/match.h"
#include "layers/detection/predictions.h"
#include "layers/loss/loss.h"

enum { FIRE_MULTIBOX_OBJECTS = 3 }; /* bottom */

#define FIRE_MULTIBOX_SETTING(name) CAFFE__MULTI_BOX_LOSS_PARAMETER__##name

/* The state of a MultiBoxLoss layer. Arrays are kept from pass to pass; cX is the
 * capacity of X. */
typedef struct fire_multibox {
    fire_predictions_t p;
    fire_match_rule_t  rule;
    fire_loss_t        loss;
    bool               mining; /* use only the worst negatives */
    bool               hard;   /* and of all priors, matched or not, only the worst */

    fire_object_t *object; /* objects of all images, in the order of images */
    int64_t        nobject, cobject;
    int32_t       *index;  /* [image][prior] its object, or FIRE_MATCH_NONE, _IGNORED */
    bool          *counts; /* [image][prior] part of the confidence loss */
    float         *overlap; /* [prior] of one image */
    fire_bbox_t   *box;     /* [prior] of one image */
    fire_ranked_t *list;    /* [prior] of one image */
    int64_t        cindex, ccounts, coverlap, cbox, clist;
    int64_t        matches; /* matched priors of all images */
    fire_scratch_t work;    /* of fire_match() */
} fire_multibox_t;

/* Decide which priors take part in the loss (multibox_match.c): reads the predictions
 * and objects of all images and sets index, counts and matches. */
fire_status_t fire_multibox_match(fire_layer_t *l);

/* The label that prior box `row` (image * priors + prior) shall predict. */
int fire_multibox_label(const fire_layer_t *l, int64_t row);
/* Loss of the location that `row` predicts; it must be matched. */
double fire_multibox_location_loss(const fire_layer_t *l, int64_t row);
/* Loss of one row of scores, (classes), whose true class is `label`. */
double fire_multibox_confidence_loss(const fire_layer_t *l, const float *x, int label);
#endif
