/* bbox.h - boxes around objects, in units of the image: 0 to 1. */
#ifndef FIRE_DATA_TRANSFORM_BBOX_H
#define FIRE_DATA_TRANSFORM_BBOX_H
#include <fire/api.h>

typedef struct fire_bbox {
    float xmin, ymin, xmax, ymax;
} fire_bbox_t;

float       fire_bbox_area(fire_bbox_t b); /* 0 for a box without inside */
fire_bbox_t fire_bbox_clip(fire_bbox_t b); /* to the image */
/* Area in common over area covered by either. */
float fire_bbox_overlap(fire_bbox_t a, fire_bbox_t b);
/* How much of a lies in b. */
float fire_bbox_coverage(fire_bbox_t a, fire_bbox_t b);
/* The box in units of a window of the image, clipped to it. */
fire_bbox_t fire_bbox_project(fire_bbox_t window, fire_bbox_t b);
#endif
