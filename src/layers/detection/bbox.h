/* bbox.h - SSD's operations on boxes: encoding relative to prior boxes, ranking by
 * score, non-maximum suppression. */
#ifndef FIRE_LAYERS_DETECTION_BBOX_H
#define FIRE_LAYERS_DETECTION_BBOX_H
#include "data/transform/bbox.h"
#include "layers/layer.h"

typedef Caffe__PriorBoxParameter__CodeType fire_bbox_code_t;

/* Encode a box relative to a prior box, and decode it. CORNER and CORNER_SIZE encode
 * the differences of the corners (divided by the prior's size), CENTER_SIZE those of
 * the centre and the logarithm of the size ratio. Codes are divided by variance[4];
 * NULL: they are not. */
fire_bbox_t fire_bbox_encode(fire_bbox_code_t code, fire_bbox_t prior,
                             const float *variance, fire_bbox_t box);
fire_bbox_t fire_bbox_decode(fire_bbox_code_t code, fire_bbox_t prior,
                             const float *variance, fire_bbox_t encoded);

/* An index and its score. fire_rank() sorts by descending score, equal scores by
 * ascending index. */
typedef struct fire_ranked {
    float   score;
    int64_t index;
} fire_ranked_t;

void fire_rank(fire_ranked_t *list, int64_t n);

/* Non-maximum suppression: of boxes that overlap by more than the threshold, keep the
 * one with the better score. list: ranked; those kept move to its front, in order. With
 * eta < 1 the threshold shrinks after each box kept (while above 0.5). Returns the
 * number kept. */
int64_t fire_bbox_suppress(const fire_bbox_t *box, fire_ranked_t *list, int64_t n,
                           float threshold, float eta);

/* An object of an image, as AnnotatedData labels it. */
typedef struct fire_object {
    int64_t     image;
    int         label;
    bool        difficult;
    fire_bbox_t box;
} fire_object_t;

/* Read the rows of a label blob: image (-1: none), label, instance, xmin, ymin, xmax,
 * ymax, difficult. Difficult objects are skipped unless difficult_too. `object` has
 * room for nrow. An object with the background's label is an error. */
enum { FIRE_OBJECT_ROW = 8 };
fire_status_t fire_objects_read(const float *rows, int64_t nrow, int background,
                                bool difficult_too, fire_object_t *object,
                                int64_t *n_p);
#endif
