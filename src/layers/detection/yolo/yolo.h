/* yolo.h - what the layers of YOLO share (Redmon and others, 2016 to 2018): boxes by
 * their centre, maps of predictions, objects of an image. Coordinates are fractions of
 * the image. */
#ifndef FIRE_LAYERS_DETECTION_YOLO_YOLO_H
#define FIRE_LAYERS_DETECTION_YOLO_YOLO_H
#include "layers/detection/bbox.h"

typedef struct fire_yolo_box {
    float x, y, w, h; /* x, y: the centre */
} fire_yolo_box_t;

/* Intersection over union; 0 if they do not touch. */
float fire_yolo_iou(fire_yolo_box_t a, fire_yolo_box_t b);
float fire_yolo_sigmoid(float x);

/* ---- maps of predictions ---- */

/* A map (N, boxes * entries, H, W): at each place there are some boxes, each with the
 * entries x, y, w, h, objectness, one for each class. */
enum { FIRE_YOLO_OBJECT = 4, FIRE_YOLO_CLASS = 5 };
typedef struct fire_yolo_map {
    int64_t images, boxes, entries, height, width;
} fire_yolo_map_t;

/* The map in a bottom; fails if it has not the channels that it must have. */
fire_status_t fire_yolo_map_of(const fire_blob_t *x, int64_t boxes, int64_t entries,
                               fire_yolo_map_t *m_p);

/* Index of the first entry of a box; the others follow at distances of a plane. */
static inline int64_t fire_yolo_at(const fire_yolo_map_t *m, int64_t image, int64_t box,
                                   int64_t place)
{
    return ((image * m->boxes + box) * m->entries) * m->height * m->width + place;
}

/* The box of a place from its four entries, x and y already between 0 and 1. anchor: its
 * width and height; they are divided by unit[0] and unit[1]. In _of() the entries are an
 * array of their own. */
fire_yolo_box_t fire_yolo_box(const fire_yolo_map_t *m, const float *entry,
                              int64_t place, const float *anchor, const float *unit);
fire_yolo_box_t fire_yolo_box_of(const fire_yolo_map_t *m, const float entry[4],
                                 int64_t place, const float *anchor, const float *unit);

/* Softmax of n entries, in place, `step` apart. */
void fire_yolo_softmax(int64_t n, int64_t step, float *x);

/* Anchors of a prototxt: pairs of width and height, as many as `need`, at least. */
fire_status_t fire_yolo_check_anchors(size_t n, int64_t need);

/* ---- objects ---- */

typedef struct fire_yolo_truth {
    int             label; /* from 0 on */
    bool            difficult;
    fire_yolo_box_t box;
} fire_yolo_truth_t;

typedef struct fire_yolo_truths {
    fire_yolo_truth_t *list;
    int64_t            n, cap;
} fire_yolo_truths_t;

/* Check the shape of a label blob: (N, ..., 5), rows of class, x, y, w, h for each image,
 * up to one of width 0; or (..., 8), rows of SSD (bbox.h), whose classes begin with 1. */
fire_status_t fire_yolo_truths_check(const fire_blob_t *label, int64_t images);
/* Collect the objects of an image. label: values of the blob. */
fire_status_t fire_yolo_truths_read(const fire_blob_t *blob, const float *label,
                                    int64_t image, int64_t images, int64_t classes,
                                    fire_yolo_truths_t *t);
#endif
