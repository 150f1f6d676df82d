/* distort.h - random changes of brightness, contrast, saturation, hue and channel order,
 * as SSD trains with them. */
#ifndef FIRE_DATA_TRANSFORM_DISTORT_H
#define FIRE_DATA_TRANSFORM_DISTORT_H
#include "caffe.pb-c.h"
#include "data/transform/draw.h"

/* n interleaved pixels of blue, green, red, in place. */
void fire_distort(const Caffe__DistortionParameter *p, fire_draw_t *draw, uint8_t *bgr,
                  int64_t n);
#endif
