/* mean.h - mean images: computed from a database (compute_image_mean), saved and
 * loaded. */
#ifndef FIRE_DATA_PICTURE_MEAN_H
#define FIRE_DATA_PICTURE_MEAN_H
#include "data/convert/convert.h"
#include "data/image/image.h"

typedef struct fire_mean {
    fire_extent_t extent;
    float        *image;   /* (channels, height, width) */
    float        *channel; /* [channels] average over the image */
} fire_mean_t;

/* Compute the mean of all images of a database, which must have the same size. Runs in
 * several threads; the result does not depend on their number. */
fire_status_t fire_mean_compute(const char *db, const char *backend,
                                const fire_progress_t *progress, fire_mean_t *mean_p);
/* Save as a .binaryproto: a BlobProto with the old four-number shape, as Caffe's tool
 * writes it. */
fire_status_t fire_mean_save(const fire_mean_t *mean, const char *path);
/* Load a .binaryproto, or a .npy of numpy if the name ends so: (channels, height,
 * width), or one number per channel, which gives an image of 1 x 1. */
fire_status_t fire_mean_load(const char *path, fire_mean_t *mean_p);
void          fire_mean_fini(fire_mean_t *mean);
#endif
