/* prepare.h - from a picture to the input of a net, in the steps of pycaffe's
 * Transformer: resize, planes, order of channels, raw_scale, mean, input_scale. And the
 * windows that its Detector cuts out before. */
#ifndef FIRE_DATA_PICTURE_PREPARE_H
#define FIRE_DATA_PICTURE_PREPARE_H
#include "data/picture/mean.h"
#include "data/picture/picture.h"

typedef struct fire_prepare {
    fire_extent_t input;
    int           swap[3]; /* which channel of the picture each of the input is */
    float         raw_scale, input_scale;
    float        *mean; /* channels x height x width of the input, or NULL */
} fire_prepare_t;

/* For an input of one or three channels: blue first, 0 to 255, no mean. */
fire_status_t fire_prepare_init(fire_prepare_t *p, fire_extent_t input);
void          fire_prepare_fini(fire_prepare_t *p);

/* Subtract this mean, resized to the input, or, `by_channel`, its average over each
 * channel. `source` is for messages. */
fire_status_t fire_prepare_set_mean(fire_prepare_t *p, const fire_mean_t *mean,
                                    bool by_channel, const char *source);

/* Fill channels x height x width numbers. */
fire_status_t fire_prepare_run(const fire_prepare_t *p, const fire_picture_t *in,
                               float *out);

/* Cut a window out. With a context pad it comes with its surroundings, so many pixels of
 * the input on each side; where these lie outside of the picture, there is the mean. A
 * window that the picture has no part of is an error. */
fire_status_t fire_prepare_window(const fire_prepare_t *p, const fire_picture_t *in,
                                  fire_rect_t window, int context_pad,
                                  fire_picture_t *crop_p);
#endif
