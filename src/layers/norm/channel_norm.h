/* channel_norm.h - y = relu((x - mean) * inverse * gain + shift) per channel, on channels
 * in blocks: BatchNorm, Scale and ReLU in one pass over memory. Backward needs x alone.
 *
 * Sums are taken per image and combined in order, whatever the number of threads. */
#ifndef FIRE_LAYERS_NORM_CHANNEL_NORM_H
#define FIRE_LAYERS_NORM_CHANNEL_NORM_H
#include "device/cpu/blocked.h"
#include "layers/layer.h"

/* Arrays are as long as all blocks together; what is beyond the last channel is kept so
 * that y is zero there. */
typedef struct fire_channel_norm {
    float  *memory; /* all arrays lie in it */
    int64_t cap;
    float  *mean, *rest; /* rest: of the batch's own mean, what a float leaves out */
    float  *variance, *inverse; /* inverse = 1 / sqrt(variance + eps) */
    float  *gain, *shift;
    float  *dgain, *dshift; /* made by backward, to be added */
    float  *partial;        /* two rows per image */
    bool    measured;       /* mean and variance are the batch's own */
    bool    relu;
    float   slope; /* of the ReLU */
} fire_channel_norm_t;

/* Room for this format; mean 0, inverse 1, gain 1, shift 0. */
fire_status_t fire_channel_norm_fit(fire_channel_norm_t *c, const fire_blocked_t *b);
void          fire_channel_norm_free(fire_channel_norm_t *c);

/* With c->measured, mean, variance and inverse are those of x. y may be x. */
void fire_channel_norm_forward(fire_channel_norm_t *c, const fire_blocked_t *b,
                               float eps, const void *x, void *y);
/* y alone, with mean and inverse as they are. */
void fire_channel_norm_apply(fire_channel_norm_t *c, const fire_blocked_t *b,
                             const void *x, void *y);
/* dx may be dy, or NULL where it is not wanted. */
void fire_channel_norm_backward(fire_channel_norm_t *c, const fire_blocked_t *b,
                                const void *x, const void *dy, void *dx);
#endif
