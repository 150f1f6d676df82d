/* noise.h - changes of values that are no change of colours: SSD's noise_param, blur,
 * random noise, holes. All work in place on interleaved bytes. */
#ifndef FIRE_DATA_JITTER_NOISE_H
#define FIRE_DATA_JITTER_NOISE_H
#include "caffe.pb-c.h"
#include "data/transform/transform.h"
#include "data/transform/draw.h"

/* Fail if a setting is out of range or not supported; p may be NULL. */
fire_status_t fire_noise_check(const Caffe__NoiseParameter *p);

/* SSD's noise, with probability `prob`; always if it is not given, as SSD's code does.
 * spare is memory for a copy. */
fire_status_t fire_noise_add(const Caffe__NoiseParameter *p, fire_draw_t *draw,
                             fire_buffer_t *spare, const fire_pixels_t *pixels);

/* Blur with this standard deviation in pixels. */
fire_status_t fire_noise_blur(float deviation, fire_buffer_t *spare,
                              const fire_pixels_t *pixels);

/* Add normally distributed numbers with this deviation. key: of this use; `first`: index
 * of the first of its numbers, one for every value of the image. */
void fire_noise_gaussian(float deviation, fire_rng_key_t key, uint64_t first,
                         const fire_pixels_t *pixels);

/* Fill a square of this side, centred in a random pixel of the window, with the mean. */
void fire_noise_cutout(int side, const fire_transform_t *t, fire_window_t window,
                       fire_draw_t *draw, const fire_pixels_t *pixels);
#endif
