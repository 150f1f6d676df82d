/* augment.h - which part of an image SSD trains on: the image may be put on a larger
 * canvas, and a window is drawn that meets some wish about the objects in it. */
#ifndef FIRE_DATA_TRANSFORM_AUGMENT_H
#define FIRE_DATA_TRANSFORM_AUGMENT_H
#include "base/error.h"
#include "caffe.pb-c.h"
#include "data/transform/bbox.h"
#include "data/transform/draw.h"

/* An object of an image. */
typedef struct fire_annotation {
    int         label, instance;
    bool        difficult;
    fire_bbox_t box;
} fire_annotation_t;

/* Can windows be drawn by these wishes? Each may be NULL. */
fire_status_t fire_augment_check(const Caffe__ExpansionParameter     *expand,
                                 const Caffe__AnnotatedDataParameter *sampling);

/* The window to look through, in units of the image; it may leave the image. Objects
 * that are not in it any more (emit: by which rule) are removed, the others told in
 * units of the window. */
fire_bbox_t fire_augment_window(const Caffe__ExpansionParameter     *expand,
                                const Caffe__AnnotatedDataParameter *sampling,
                                fire_draw_t *draw, const fire_annotation_t *object,
                                int64_t n);
void        fire_augment_objects(const Caffe__EmitConstraint *emit, fire_bbox_t window,
                                 fire_annotation_t *object, int64_t *n);
#endif
