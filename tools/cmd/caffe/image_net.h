/* image_net.h - nets that take images: the flags that Caffe's classify.py and detect.py
 * have in common, and any number of pictures through one net, batch by batch. */
#ifndef FIRE_TOOLS_CMD_CAFFE_IMAGE_NET_H
#define FIRE_TOOLS_CMD_CAFFE_IMAGE_NET_H
#include "base/text/options.h"
#include "data/picture/prepare.h"
#include "net/net.h"

typedef struct image_flags {
    const char *model_def, *pretrained_model, *mean_file, *channel_swap;
    double      raw_scale, input_scale;
    bool        gpu;
} image_flags_t;

extern image_flags_t       image_flags;
extern const fire_option_t image_options[];

typedef struct image_net {
    fire_net_t    *net;
    fire_prepare_t prepare;
    float         *waiting; /* inputs of the batch that is being filled */
    int64_t        nwaiting, batch;
    float         *score; /* [nscore][classes], in the order of the pictures */
    int64_t        nscore, classes, score_cap;
} image_net_t;

/* The blob that takes images: the first, N x 1 or 3 x height x width. */
fire_status_t image_net_input(const fire_net_t *net, const char *file,
                              fire_blob_t **input_p);

/* The first of the net's outputs. */
fire_status_t image_net_output(const fire_net_t *net, const char *file,
                               fire_blob_t **output_p);

/* The net of the flags. mean_by_channel: of a mean image, use averages only. */
fire_status_t image_net_open(bool mean_by_channel, image_net_t *n_p);
void          image_net_close(image_net_t *n);

fire_status_t image_net_add(image_net_t *n, const fire_picture_t *picture);
fire_status_t image_net_finish(image_net_t *n); /* then all scores are there */
#endif
