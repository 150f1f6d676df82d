/* image_net.h - classifies pictures: any number of them is run through a net, a batch
 * at a time, and the scores are collected. */
#ifndef FIRE_NET_IMAGE_NET_H
#define FIRE_NET_IMAGE_NET_H
#include "data/picture/prepare.h"
#include "net/net.h"

/* How pictures become inputs, as Caffe's classify.py and detect.py name it. */
typedef struct fire_image_options {
    const char *mean_file;       /* subtracted; .npy or .binaryproto; "": none */
    bool        mean_by_channel; /* of a mean image, subtract averages only */
    const char *channel_swap;    /* "2,1,0": order of channels that the net wants */
    double      raw_scale;   /* multiplies pixels, which are 0 to 1, before the mean */
    double      input_scale; /* multiplies after the mean */
} fire_image_options_t;

typedef struct fire_image_net {
    fire_net_t    *net;  /* the caller's */
    const char    *file; /* of the net, for messages */
    fire_prepare_t prepare;
    float         *waiting; /* (batch, channels, height, width) inputs that wait */
    int64_t        nwaiting, batch;
    float         *score; /* (nscore, classes), in the order of the pictures */
    int64_t        nscore, classes, score_cap;
} fire_image_net_t;

/* The blob that takes images: the first, (N, 1 or 3, height, width). `file` names the
 * net in messages. */
fire_status_t fire_image_net_input(const fire_net_t *net, const char *file,
                                   fire_blob_t **input_p);

/* The first of the net's outputs. */
fire_status_t fire_image_net_output(const fire_net_t *net, const char *file,
                                    fire_blob_t **output_p);

/* The net and `file` must outlive *n_p. */
fire_status_t fire_image_net_open(fire_net_t *net, const char *file,
                                  const fire_image_options_t *options,
                                  fire_image_net_t           *n_p);
void          fire_image_net_close(fire_image_net_t *n);

/* Queue a picture; a full batch is run. */
fire_status_t fire_image_net_add(fire_image_net_t *n, const fire_picture_t *picture);
/* Run what is left: afterwards there is a row of scores for each picture. */
fire_status_t fire_image_net_finish(fire_image_net_t *n);
#endif
