/* batch_norm.h - what the kernels of BatchNorm share. */
#ifndef FIRE_LAYERS_NORM_BATCH_NORM_H
#define FIRE_LAYERS_NORM_BATCH_NORM_H
#include "layers/norm/affine.h"

FIRE_BEGIN_C
/* State of the layer. */
typedef struct fire_batch_norm {
    float         eps;
    bool          use_global; /* normalise with the running statistics */
    bool          scale_bias; /* has learned gain and shift */
    fire_affine_t view;       /* (images, channels, places) */
} fire_batch_norm_t;

/* Indices of the blobs that scale_bias adds behind the three statistics. */
enum { FIRE_BATCH_NORM_GAIN = 3, FIRE_BATCH_NORM_SHIFT };

/* The running mean and variance of each channel. */
fire_status_t fire_batch_norm_read(fire_layer_t *l, float *mean, float *variance);
/* Decay the running statistics and add a batch's, whose variance is biased. Changes the
 * blobs' data or, where several lanes contribute to one update, their diffs. */
fire_status_t fire_batch_norm_update(fire_layer_t *l, const float *mean,
                                     const float *variance);
FIRE_END_C
#endif
