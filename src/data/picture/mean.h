/* mean.h - the mean image of a database (compute_image_mean), and files with one. */
#ifndef FIRE_DATA_PICTURE_MEAN_H
#define FIRE_DATA_PICTURE_MEAN_H
#include "data/convert/convert.h"
#include "data/image/image.h"

typedef struct fire_mean {
    fire_extent_t extent;
    float        *image;   /* channels x height x width */
    float        *channel; /* mean of each channel */
} fire_mean_t;

/* All images must have the same size. End with fire_mean_fini(). */
fire_status_t fire_mean_compute(const char *db, const char *backend,
                                const fire_progress_t *progress, fire_mean_t *mean_p);
/* As a BlobProto with the old four-number shape, as Caffe's tool writes it. */
fire_status_t fire_mean_save(const fire_mean_t *mean, const char *path);
/* A .binaryproto or, by its name, a .npy of numpy: channels x height x width, or a number
 * for each channel, which is an image of 1 x 1. */
fire_status_t fire_mean_load(const char *path, fire_mean_t *mean_p);
void          fire_mean_fini(fire_mean_t *mean);
#endif
