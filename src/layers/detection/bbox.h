/* bbox.h - what SSD does with boxes: codes relative to priors, ranks, duplicates. */
#ifndef FIRE_LAYERS_DETECTION_BBOX_H
#define FIRE_LAYERS_DETECTION_BBOX_H
#include "data/transform/bbox.h"
#include "layers/layer.h"

typedef Caffe__PriorBoxParameter__CodeType fire_bbox_code_t;

/* A box told relative to a prior box, and back. variance scales the four numbers; NULL
 * where that was done already. */
fire_bbox_t fire_bbox_encode(fire_bbox_code_t code, fire_bbox_t prior,
                             const float *variance, fire_bbox_t box);
fire_bbox_t fire_bbox_decode(fire_bbox_code_t code, fire_bbox_t prior,
                             const float *variance, fire_bbox_t told);

/* Number of one of several things, and what it is worth; best first, equals in the
 * order of their numbers. */
typedef struct fire_ranked {
    float   score;
    int64_t index;
} fire_ranked_t;

void fire_rank(fire_ranked_t *list, int64_t n);

/* Of boxes that overlap by more than the threshold keep the better one. list: ranked;
 * what is kept moves to its front, in order. eta < 1 lowers the threshold as it goes.
 * Returns the number kept. */
int64_t fire_bbox_suppress(const fire_bbox_t *box, fire_ranked_t *list, int64_t n,
                           float threshold, float eta);

/* An object as AnnotatedData and label blobs describe it. */
typedef struct fire_object {
    int64_t     image;
    int         label;
    bool        difficult;
    fire_bbox_t box;
} fire_object_t;

/* A label blob holds rows of 8: image (-1: none), label, instance, xmin, ymin, xmax,
 * ymax, difficult. The objects in it, difficult ones only if wanted. */
enum { FIRE_OBJECT_ROW = 8 };
fire_status_t fire_objects_read(const float *rows, int64_t nrow, int background,
                                bool difficult_too, fire_object_t *object,
                                int64_t *n_p);
#endif
