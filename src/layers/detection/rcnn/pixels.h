/* pixels.h - boxes in pixels, as R-CNN and its descendants count them: both ends are
 * inside, so that a box from x1 to x2 is x2 - x1 + 1 wide. */
#ifndef FIRE_LAYERS_DETECTION_RCNN_PIXELS_H
#define FIRE_LAYERS_DETECTION_RCNN_PIXELS_H
#include "layers/detection/bbox.h"

/* Intersection over union, 0 ... 1. */
float fire_pixels_overlap(fire_bbox_t a, fire_bbox_t b);

/* The box that a regression gives: delta = shifts of the centre in units of the box, and
 * logarithms of the factors of its width and height. */
fire_bbox_t fire_pixels_move(fire_bbox_t box, const float *delta);

/* Limit a box to an image of this size. */
fire_bbox_t fire_pixels_clip(fire_bbox_t box, float width, float height);

/* Non-maximum suppression: of boxes that overlap by more than the threshold, keep the one
 * that comes first in the list. Those kept move to its front, in order; the search ends
 * when there are `most` of them. Returns their number. */
int64_t fire_pixels_suppress(const fire_bbox_t *box, fire_ranked_t *list, int64_t n,
                             float threshold, int64_t most);
#endif
