/* color.h - random changes of colours, all of them as one matrix: each pixel becomes
 * M * (b, g, r) + offset, rounded once. Brightness multiplies, contrast moves towards
 * the mean grey of the image, saturation towards the grey of the pixel, hue turns
 * around the grey axis (in YIQ), lighting adds along the main colours of ImageNet's
 * pixels (Krizhevsky and others, 2012). */
#ifndef FIRE_DATA_JITTER_COLOR_H
#define FIRE_DATA_JITTER_COLOR_H
#include "caffe.pb-c.h"
#include "data/image/image.h"
#include "data/transform/draw.h"

/* Fail if a setting is out of range. */
fire_status_t fire_color_check(const Caffe__AugmentParameter *a);

/* Change the colours of interleaved bytes in place. Images that are not BGR have
 * brightness and contrast only; other settings fail. */
fire_status_t fire_color_change(const Caffe__AugmentParameter *a, fire_draw_t *draw,
                                const fire_pixels_t *pixels);
#endif
