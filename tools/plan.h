/* plan.h - what `firecaffe plan` works on: a net as work per sample, a grid of
 * settings with their predicted steps, and the best of them. */
#ifndef FIRE_TOOLS_PLAN_H
#define FIRE_TOOLS_PLAN_H
#include "net/net.h"
#include "sim/step.h"
#include "flags/workers.h"

/* A net, for one sample; |W| and |D| as in the FireCaffe paper. */
typedef struct plan_net {
    fire_layer_cost_t *work; /* [nlayer] */
    const char       **name; /* of the layers; the net's */
    double            *w, *d;
    int                nlayer;
    double             w_bytes, d_bytes, flops, moved, weights;

    fire_timing_t *timing; /* measured, by batch, ascending */
    int            ntiming;
} plan_net_t;

typedef struct plan_row {
    int               batch, workers;
    const char       *comm; /* as asked for */
    fire_mode_t       mode;
    fire_cost_curve_t curve;
    fire_step_times_t t;
    double            speedup;
} plan_row_t;

typedef struct plan {
    const char    *name; /* of the net */
    fire_cluster_t cluster;
    plan_net_t     net;
    double         bucket; /* bytes */
    bool           overlap;
    double         baseline; /* samples/s that speed-ups count from; 0: one worker's */
    plan_row_t    *row;
    int64_t        nrow, cap;
} plan_t;

fire_status_t plan_net_read(const fire_net_t *net, plan_net_t *out);
void          plan_net_fini(plan_net_t *n);
/* Take the seconds of layers from a file of `firecaffe time --json`, which its workers
 * may have measured on shared cores. */
fire_status_t plan_net_time(plan_net_t *n, const fire_cluster_t *c, const char *path);
fire_load_t   plan_net_load(const plan_net_t *n);

/* Measure the present machine and write its file; every worker calls it. */
fire_status_t plan_measure(const worker_t *worker, const char *path);

/* The step of a row with other settings than the plan's. */
fire_status_t plan_replay(const plan_t *p, const plan_row_t *row,
                          const fire_cost_curve_t *curve, double bucket, bool overlap,
                          fire_step_times_t *t);

/* The fastest row for so many workers and that batch; NULL: none. */
const plan_row_t *plan_best(const plan_t *p, int batch, int workers);

/* Say in words which setting to use, why, and what stands in the way of more. */
fire_status_t plan_advise(const plan_t *p, int batch, fire_str_t *out);
#endif
