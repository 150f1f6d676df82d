/* fit.h - SSD's resize_param: brings an image and its boxes to the size that the net
 * expects. WARP stretches; FIT_LARGE_SIZE_AND_PAD keeps the aspect ratio and pads the
 * rest; FIT_SMALL_SIZE keeps it and lets one side be larger. */
#ifndef FIRE_DATA_TRANSFORM_FIT_H
#define FIRE_DATA_TRANSFORM_FIT_H
#include "caffe.pb-c.h"
#include "data/transform/bbox.h"
#include "data/decode.h"
#include "data/transform/draw.h"

/* Check the settings: height and width must be given, pad_value 0, 1 or 3 times. */
fire_status_t fire_fit_check(const Caffe__ResizeParameter *p);

/* The extent after resizing an image of extent `in`. */
fire_extent_t fire_fit_extent(const Caffe__ResizeParameter *p, fire_extent_t in);

/* One of its interp_modes, at random; without one LINEAR. */
fire_filter_t fire_fit_filter(const Caffe__ResizeParameter *p, fire_draw_t *draw);

/* Resize *pixels, which then points into scratch. Of several interp_mode one is
 * drawn. */
fire_status_t fire_fit_image(const Caffe__ResizeParameter *p, fire_draw_t *draw,
                             fire_workspace_t *scratch, fire_pixels_t *pixels);

/* Convert a box in units of an image of extent `in` to units of the resized one. */
fire_bbox_t fire_fit_box(const Caffe__ResizeParameter *p, fire_extent_t in,
                         fire_bbox_t box);
#endif
