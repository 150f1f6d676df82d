/* step.h - one iteration of data-parallel training, replayed: forward, backward,
 * gradients summed over workers in buckets as they become final, update. */
#ifndef FIRE_SIM_STEP_H
#define FIRE_SIM_STEP_H
#include "sim/cost_curve.h"

/* What one sample costs in a layer, in order of forward. Backward is twice that. */
typedef struct fire_layer_cost {
    double flops, bytes; /* arithmetic, and what is read and written */
    double kept;         /* bytes of outputs */
    double weights;      /* bytes of parameters whose gradients it finishes */
} fire_layer_cost_t;

/* Measured seconds of every layer with a batch of so many. */
typedef struct fire_timing {
    int           batch;
    const double *forward, *backward; /* [nlayer] */
    double        other;              /* of a pass, between layers */
    double        meeting;            /* after it, until all workers are through */
} fire_timing_t;

/* A net as a worker computes it. */
typedef struct fire_load {
    const fire_layer_cost_t *work;
    int                      nlayer;
    const fire_timing_t     *timing;  /* by batch, ascending */
    int                      ntiming; /* 0: none; arithmetic and rates tell the time */
} fire_load_t;

typedef struct fire_step_setup {
    const fire_cluster_t    *cluster;
    const fire_cost_curve_t *curve; /* for so many workers */
    fire_load_t              load;
    int                      workers, batch; /* the global batch */
    double                   bucket;         /* bytes; 0: all in one */
    bool                     overlap, compressed;
} fire_step_setup_t;

typedef struct fire_step_times {
    double total;
    double compute, update; /* workers that wait for the slowest count as computing */
    double comm, exposed;   /* under way; of that, computing waits for */
    double bytes;           /* on the wire, of the worker that sends most */
    double memory;          /* bytes a worker needs for weights and activations */
    bool   starved;         /* the input decides */
} fire_step_times_t;

fire_status_t fire_step_replay(const fire_step_setup_t *setup,
                               fire_step_times_t       *times_p);
/* Seconds of one layer, forward or backward. */
double fire_step_layer(const fire_cluster_t *c, const fire_load_t *load, bool backward,
                       int layer, int batch);
/* Seconds of forward and backward with a batch of its own of this size, for a worker
 * that has its cores for itself. */
double fire_step_compute(const fire_cluster_t *c, const fire_load_t *load, int batch);
#endif
