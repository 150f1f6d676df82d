/* channel_norm.h - y = relu((x - mean) * inverse * gain + shift) per channel on blocked
 * arrays: BatchNorm, Scale and ReLU in one pass over memory, plus one for the
 * statistics. Backward reads x and dy, and computes the rest again.
 *
 * Sums are taken per image and combined in the order of images: bits do not depend on
 * the number of threads. */
#ifndef FIRE_LAYERS_NORM_CHANNEL_NORM_H
#define FIRE_LAYERS_NORM_CHANNEL_NORM_H
#include "device/cpu/blocked.h"
#include "layers/layer.h"

/* Arrays have an element for each channel of all blocks; those beyond the last channel
 * are such that y is zero there. */
typedef struct fire_channel_norm {
    float  *memory;             /* holds all arrays below; owned */
    int64_t cap;                /* elements of it */
    float  *mean, *rest;        /* rest: the batch's mean in double, minus its float */
    float  *variance, *inverse; /* inverse = 1 / sqrt(variance + eps) */
    float  *gain, *shift;
    float  *dgain, *dshift; /* set by backward; the caller adds them to diffs */
    float  *partial;        /* (image, 2, channel): sums of each image */
    bool    measured;       /* mean and variance are the batch's own */
    bool    relu;
    float   slope; /* of the ReLU */
} fire_channel_norm_t;

/* Make room for arrays of this format, and set mean 0, inverse 1, gain 1, shift 0. */
fire_status_t fire_channel_norm_fit(fire_channel_norm_t *c, const fire_blocked_t *b);
void          fire_channel_norm_free(fire_channel_norm_t *c);

/* If c->measured, compute mean, variance and inverse from x first. y may be x. */
void fire_channel_norm_forward(fire_channel_norm_t *c, const fire_blocked_t *b,
                               float eps, const void *x, void *y);
/* Compute y with the mean and inverse of the last forward pass. */
void fire_channel_norm_apply(fire_channel_norm_t *c, const fire_blocked_t *b,
                             const void *x, void *y);
/* Sets dgain, dshift and dx. dx may be dy, or NULL if it is not wanted. */
void fire_channel_norm_backward(fire_channel_norm_t *c, const fire_blocked_t *b,
                                const void *x, const void *dy, void *dx);
#endif
