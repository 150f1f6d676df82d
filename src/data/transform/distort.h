/* distort.h - SSD's photometric distortion: random changes of brightness, contrast,
 * saturation, hue and channel order. */
#ifndef FIRE_DATA_TRANSFORM_DISTORT_H
#define FIRE_DATA_TRANSFORM_DISTORT_H
#include "caffe.pb-c.h"
#include "data/transform/draw.h"

/* Distort n interleaved BGR pixels in place. Each change has its own probability in
 * p. */
void fire_distort(const Caffe__DistortionParameter *p, fire_draw_t *draw, uint8_t *bgr,
                  int64_t n);
#endif
