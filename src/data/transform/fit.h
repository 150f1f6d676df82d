/* fit.h - SSD's resize_param: how an image and the boxes in it come to the size that a
 * net wants. WARP stretches; FIT_LARGE_SIZE_AND_PAD keeps the shape and pads what is
 * left; FIT_SMALL_SIZE keeps the shape and is larger one way. */
#ifndef FIRE_DATA_TRANSFORM_FIT_H
#define FIRE_DATA_TRANSFORM_FIT_H
#include "caffe.pb-c.h"
#include "data/transform/bbox.h"
#include "data/decode.h"
#include "data/transform/draw.h"

/* Is all there that is needed? */
fire_status_t fire_fit_check(const Caffe__ResizeParameter *p);

/* What an image of this extent becomes. */
fire_extent_t fire_fit_extent(const Caffe__ResizeParameter *p, fire_extent_t in);

/* Of several filters (interp_mode) one is drawn. The result lies in the scratch. */
fire_status_t fire_fit_image(const Caffe__ResizeParameter *p, fire_draw_t *draw,
                             fire_workspace_t *scratch, fire_pixels_t *pixels);

/* A box in an image of extent `in`, both before and after in units of the image. */
fire_bbox_t fire_fit_box(const Caffe__ResizeParameter *p, fire_extent_t in,
                         fire_bbox_t box);
#endif
