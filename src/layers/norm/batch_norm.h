/* batch_norm.h - what the kernels of BatchNorm share. */
#ifndef FIRE_LAYERS_NORM_BATCH_NORM_H
#define FIRE_LAYERS_NORM_BATCH_NORM_H
#include "layers/norm/affine.h"

FIRE_BEGIN_C
typedef struct fire_batch_norm {
    float         eps;
    bool          use_global, scale_bias;
    fire_affine_t view; /* images x channels x places */
} fire_batch_norm_t;

/* Parameters with scale_bias, behind three statistics. */
enum { FIRE_BATCH_NORM_GAIN = 3, FIRE_BATCH_NORM_SHIFT };

/* The running statistics. */
fire_status_t fire_batch_norm_read(fire_layer_t *l, float *mean, float *variance);
/* Decay them and add this batch's (the variance as it is, biased), in the parameters
 * themselves or, where several lanes contribute to one update, in their diffs. */
fire_status_t fire_batch_norm_update(fire_layer_t *l, const float *mean,
                                     const float *variance);
FIRE_END_C
#endif
