/* update.h - all that an update of n elements needs, and updates on a GPU. */
#ifndef FIRE_SOLVER_UPDATE_H
#define FIRE_SOLVER_UPDATE_H
#include "device/device.h"

FIRE_BEGIN_C
typedef struct fire_update {
    int64_t n;
    float  *w, *g; /* [n] weights; gradients, replaced by what is subtracted from w */
    float  *h[2];  /* [n] history; h[1] is NULL for a rule with one */
    float   rate;  /* of this parameter: learning rate times lr_mult */
    float   mult; /* on a GPU: the rate is this times the one of fire_gpu_set_rate(), so
                      that a recorded update follows the policy; 0: `rate` */
    float   scale;  /* multiplies the gradient: clipping and 1 / iter_size */
    float   share;  /* if literal: 1 / iter_size, which is then not in `scale` */
    float   decay;  /* weight_decay times decay_mult */
    float   shrink; /* the same for decoupled decay, which `decay` is not then */
    bool    decay_l1;
    float   momentum, momentum2, rms_decay, delta;
    float   correction; /* Adam's bias correction at this iteration */
    bool    literal;    /* round as Caffe does, to the last bit; slower, CPU only */
} fire_update_t;

/* Update `count` parameters, which may differ in n, memory, rate and decay only. type:
 * as solver files spell it. */
fire_status_t fire_update_gpu(fire_stream_t *s, const char *type,
                              const fire_update_t *u, int count);
/* w = keep * w + share * g */
fire_status_t fire_update_blend_gpu(fire_stream_t *s, int64_t n, float keep, float *w,
                                    float share, const float *g);
/* The sum of the squares of all u[].g; waits for the GPU. */
fire_status_t fire_update_squares_gpu(fire_stream_t *s, const fire_update_t *u,
                                      int count, double *sum_p);
FIRE_END_C
#endif
