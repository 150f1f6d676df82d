/* update.h - everything one update of some elements needs, and updates on a GPU. */
#ifndef FIRE_SOLVER_UPDATE_H
#define FIRE_SOLVER_UPDATE_H
#include "device/device.h"

FIRE_BEGIN_C
typedef struct fire_update {
    int64_t n;
    float  *w, *g; /* weights; gradient, replaced by the value subtracted from w */
    float  *h[2];  /* history */
    float   rate;  /* of this parameter */
    float   mult;  /* on a GPU: rate is this times fire_gpu_set_rate()'s; 0: not so */
    float   scale; /* of the gradient: clipping and 1/iter_size */
    float   share; /* literally: the latter, by itself */
    float   decay; /* of this parameter */
    bool    decay_l1;
    float   momentum, momentum2, rms_decay, delta;
    float   correction; /* Adam's bias correction at this iteration */
    bool    literal;    /* Caffe's own steps, to the last bit; slower, CPU only */
} fire_update_t;

/* Many parameters at once; they may differ in n, memory, rate and decay only. `type` is
 * the solver's, as solver files spell it. */
fire_status_t fire_update_gpu(fire_stream_t *s, const char *type,
                              const fire_update_t *u, int count);
/* w = keep * w + share * g */
fire_status_t fire_update_blend_gpu(fire_stream_t *s, int64_t n, float keep, float *w,
                                    float share, const float *g);
/* Sum of the squares of all u[].g; waits for it. */
fire_status_t fire_update_squares_gpu(fire_stream_t *s, const fire_update_t *u,
                                      int count, double *sum_p);
FIRE_END_C
#endif
