/* prepare.h - turns a picture into the input of a net, with the steps of pycaffe's
 * Transformer: resize, transpose to planes, swap channels, raw_scale, mean,
 * input_scale. Also cuts windows as pycaffe's Detector does. */
#ifndef FIRE_DATA_PICTURE_PREPARE_H
#define FIRE_DATA_PICTURE_PREPARE_H
#include "data/picture/mean.h"
#include "data/picture/picture.h"

/* The settings of a Transformer: input = (picture * raw_scale - mean) * input_scale. */
typedef struct fire_prepare {
    fire_extent_t input;   /* channels, height, width of the net's input */
    int           swap[3]; /* channel c of the input is swap[c] of the picture */
    float         raw_scale, input_scale;
    float        *mean; /* (channels, height, width) of the input; or NULL */
} fire_prepare_t;

/* Defaults for an input of one or three channels: BGR, 0 to 255, no mean. */
fire_status_t fire_prepare_init(fire_prepare_t *p, fire_extent_t input);
void          fire_prepare_fini(fire_prepare_t *p);

/* Subtract this mean, resized to the input; by_channel: its average of each channel.
 * `source` names it in messages. */
fire_status_t fire_prepare_set_mean(fire_prepare_t *p, const fire_mean_t *mean,
                                    bool by_channel, const char *source);

/* Fill out: (channels, height, width) floats. The picture is resized if needed. */
fire_status_t fire_prepare_run(const fire_prepare_t *p, const fire_picture_t *in,
                               float *out);

/* Cut a window out of a picture, for fire_prepare_run(). With context_pad > 0 it
 * includes its surroundings: so many pixels of the net's input on each side, the mean
 * where these are outside of the picture. A window without a pixel of the picture is an
 * error. */
fire_status_t fire_prepare_window(const fire_prepare_t *p, const fire_picture_t *in,
                                  fire_rect_t window, int context_pad,
                                  fire_picture_t *crop_p);
#endif
