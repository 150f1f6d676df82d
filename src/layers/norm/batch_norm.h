/* batch_norm.h - what the kernels of BatchNorm share. */
#ifndef FIRE_LAYERS_NORM_BATCH_NORM_H
#define FIRE_LAYERS_NORM_BATCH_NORM_H
#include "layers/norm/affine.h"

FIRE_BEGIN_C
/* Which of the layer's blobs holds what; -1: it has no such blob. */
typedef struct fire_batch_norm_blobs {
    int mean, variance;
    int weight; /* of the sums in mean and variance; none: these are no sums, but means */
    int gain, shift; /* learned; both or none */
} fire_batch_norm_blobs_t;

/* State of BatchNorm, BN and CuDNNBatchNorm. */
typedef struct fire_batch_norm {
    float                   eps;
    bool                    use_global; /* normalise with the running statistics */
    float                   share;    /* of a batch's statistics in the running ones */
    bool                    unbiased; /* running variance: that of m - 1 */
    fire_batch_norm_blobs_t at;
    fire_affine_t           view; /* (images, channels, places) */
} fire_batch_norm_t;

static inline bool fire_batch_norm_has_gain(const fire_layer_t *l)
{
    return FIRE_STATE(l, fire_batch_norm_t)->at.gain >= 0;
}

extern const fire_kernel_t *const fire_batch_norm_kernels[];

/* Is it one of these layers? */
static inline bool fire_is_batch_norm(const fire_layer_t *l)
{
    return l->ops->kernels == fire_batch_norm_kernels;
}

fire_status_t fire_batch_norm_reshape(fire_layer_t *l);

/* The running mean and variance of each channel; 0 and 1 if the layer has none. */
fire_status_t fire_batch_norm_read(fire_layer_t *l, float *mean, float *variance);
/* Decay the running statistics and add a batch's, whose variance is biased. Changes the
 * blobs' data or, where several lanes contribute to one update, their diffs. */
fire_status_t fire_batch_norm_update(fire_layer_t *l, const float *mean,
                                     const float *variance);
FIRE_END_C
#endif
