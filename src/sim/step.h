/* step.h - replays one iteration of data-parallel training in simulated time: forward,
 * backward, gradients summed over workers in buckets as they become final, update.
 *
 *   compute   | forward .... | backward ...................|  | next forward
 *   exchange                      | bucket 0 | bucket 1 | bucket 2 |
 *   update                                   | u0 |     | u1 |     | u2 |
 *   exposed                                                   |<-->|        */
#ifndef FIRE_SIM_STEP_H
#define FIRE_SIM_STEP_H
#include "sim/cost_curve.h"

/* What one sample costs in a layer's forward pass; backward costs twice that. */
typedef struct fire_layer_cost {
    double flops;   /* operations */
    double bytes;   /* read and written */
    double kept;    /* bytes of outputs */
    double weights; /* bytes of parameters whose gradients are final after this layer */
} fire_layer_cost_t;

/* Measured seconds with one batch size. */
typedef struct fire_timing {
    int           batch;              /* samples of this worker */
    const double *forward, *backward; /* [nlayer] */
    double        other;              /* between layers, of a whole pass */
    double        meeting; /* waiting for the slowest worker after the pass */
} fire_timing_t;

/* A net, as work for one worker. */
typedef struct fire_load {
    const fire_layer_cost_t *work; /* [nlayer] in order of forward */
    int                      nlayer;
    const fire_timing_t     *timing;  /* [ntiming] by batch, ascending */
    int                      ntiming; /* 0: none, use `work` and the machine's rates */
} fire_load_t;

typedef struct fire_step_setup {
    const fire_cluster_t    *cluster;
    const fire_cost_curve_t *curve; /* made for `workers` */
    fire_load_t              load;
    int                      workers, batch; /* the global batch */
    double                   bucket;         /* bytes; 0: one bucket for all */
    bool                     overlap;        /* exchange while backward computes */
    bool                     compressed;     /* error feedback needs memory */
} fire_step_setup_t;

typedef struct fire_step_times {
    double total;   /* seconds of an iteration; also the next ones */
    double compute; /* forward, backward, waiting for the slowest worker */
    double update;
    double comm;    /* exchange of all buckets */
    double exposed; /* of that, time in which computing waits */
    double bytes;   /* on the wire, of the worker that sends most */
    double memory;  /* bytes that a worker needs for weights and activations */
    bool   starved; /* reading samples is what limits `total` */
} fire_step_times_t;

fire_status_t fire_step_replay(const fire_step_setup_t *setup,
                               fire_step_times_t       *times_p);
/* Seconds of one layer, forward or backward, with `batch` samples of this worker. */
double fire_step_layer(const fire_cluster_t *c, const fire_load_t *load, bool backward,
                       int layer, int batch);
/* Seconds of forward and backward with `batch` samples, for a worker that shares its
 * cores with nobody. */
double fire_step_compute(const fire_cluster_t *c, const fire_load_t *load, int batch);
#endif
