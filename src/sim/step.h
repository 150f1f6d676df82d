/* step.h - one iteration of data-parallel training, replayed: forward, backward,
 * gradients summed over workers in buckets as they become final, update. */
#ifndef FIRE_SIM_STEP_H
#define FIRE_SIM_STEP_H
#include "sim/tariff.h"

/* What one sample costs in a layer, in order of forward. Backward is twice that. */
typedef struct fire_work {
    double flops, bytes; /* arithmetic, and what is read and written */
    double kept;         /* bytes of outputs */
    double weights;      /* bytes of parameters whose gradients it finishes */
} fire_work_t;

typedef struct fire_step_setup {
    const fire_cluster_t *cluster;
    const fire_tariff_t  *tariff; /* for so many workers */
    const fire_work_t    *work;
    int                   nlayer, workers, batch; /* the global batch */
    double                bucket;                 /* bytes; 0: all in one */
    bool                  overlap, compressed;
} fire_step_setup_t;

typedef struct fire_step_times {
    double total;
    double compute, update;
    double comm, exposed; /* under way; of that, computing waits for */
    double bytes;         /* on the wire, of the worker that sends most */
    double memory;        /* bytes a worker needs for weights and activations */
    bool   starved;       /* the input decides */
} fire_step_times_t;

fire_status_t fire_step_replay(const fire_step_setup_t *setup,
                               fire_step_times_t       *times_p);
/* Seconds of forward and backward for a worker with a batch of its own of this size. */
double fire_step_compute(const fire_cluster_t *c, const fire_work_t *work, int nlayer,
                         int batch);
#endif
