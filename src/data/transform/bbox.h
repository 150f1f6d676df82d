/* bbox.h - boxes around objects; coordinates are fractions of the image, 0 ... 1. */
#ifndef FIRE_DATA_TRANSFORM_BBOX_H
#define FIRE_DATA_TRANSFORM_BBOX_H
#include <fire/api.h>

typedef struct fire_bbox {
    float xmin, ymin, xmax, ymax;
} fire_bbox_t;

float       fire_bbox_area(fire_bbox_t b); /* 0 if max < min */
fire_bbox_t fire_bbox_clip(fire_bbox_t b); /* to 0 ... 1 */
/* Intersection over union (Jaccard overlap), 0 ... 1. */
float fire_bbox_overlap(fire_bbox_t a, fire_bbox_t b);
/* Area of the intersection over the area of a. */
float fire_bbox_coverage(fire_bbox_t a, fire_bbox_t b);
/* Convert a box to units of the window, clipped to it. */
fire_bbox_t fire_bbox_project(fire_bbox_t window, fire_bbox_t b);
#endif
