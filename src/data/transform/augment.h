/* augment.h - SSD's choice of the part of an image to train on: the image may be placed
 * on a larger canvas (expansion), then a window is drawn that satisfies a constraint on
 * the objects in it (batch_sampler); without samplers YOLO's jitter draws it. */
#ifndef FIRE_DATA_TRANSFORM_AUGMENT_H
#define FIRE_DATA_TRANSFORM_AUGMENT_H
#include "base/error.h"
#include "caffe.pb-c.h"
#include "data/transform/bbox.h"
#include "data/transform/draw.h"

/* A labelled object of an image. */
typedef struct fire_annotation {
    int         label;     /* class */
    int         instance;  /* instance_id of the record */
    bool        difficult; /* not counted by some evaluations */
    fire_bbox_t box;       /* in units of the image */
} fire_annotation_t;

/* Check the settings: ratios and scales that no window can have are an error. Each may
 * be NULL. */
fire_status_t fire_augment_check(const Caffe__ExpansionParameter     *expand,
                                 const Caffe__AnnotatedDataParameter *sampling);

/* Draw the window to train on, in units of the image; it may extend beyond the
 * image. */
fire_bbox_t fire_augment_window(const Caffe__ExpansionParameter     *expand,
                                const Caffe__AnnotatedDataParameter *sampling,
                                fire_draw_t *draw, const fire_annotation_t *object,
                                int64_t n);
/* Remove objects that are not in the window (by the rule `emit`; NULL: their centre),
 * and convert the boxes of the others to units of the window. */
void fire_augment_objects(const Caffe__EmitConstraint *emit, fire_bbox_t window,
                          fire_annotation_t *object, int64_t *n);
#endif
