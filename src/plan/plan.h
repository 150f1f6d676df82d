/* plan.h - predictions of training: a net as work per sample, a cluster, and for every
 * batch size, worker count and way to sum gradients the time of one step. The clusters
 * and the steps are those of src/sim. */
#ifndef FIRE_PLAN_PLAN_H
#define FIRE_PLAN_PLAN_H
#include "comm/comm.h"
#include "net/net.h"
#include "sim/step.h"

/* ---- the net (net.c, times.c) ---- */

/* What a net computes, reads and writes for one sample. |W| and |D|, as in the FireCaffe
 * paper, are the bytes of weights and of inputs of convolution and inner product
 * layers. Bytes are those of float32. */
typedef struct fire_plan_net {
    fire_layer_cost_t *work; /* [nlayer] */
    const char       **name; /* [nlayer], owned by the net */
    double            *w;    /* [nlayer] |W| of a layer, 0 for most types */
    double            *d;    /* [nlayer] |D| of a layer */
    int                nlayer;
    double             w_bytes, d_bytes; /* sums of w and d */
    double             flops, moved;     /* of a forward pass; moved: bytes */
    double             weights;          /* bytes of all parameters that learn */

    fire_timing_t *timing; /* [ntiming] measured seconds, by batch, ascending */
    int            ntiming;
} fire_plan_net_t;

/* Read a net that was built for a batch of one sample; it must outlive *out. End with
 * fire_plan_net_fini(), also if it fails. */
fire_status_t fire_plan_net_read(const fire_net_t *net, fire_plan_net_t *out);
void          fire_plan_net_fini(fire_plan_net_t *n);
/* Take the seconds of layers from a file of `firecaffe time --json`. Several workers may
 * have been measured at once on shared cores: that is divided out. */
fire_status_t fire_plan_net_time(fire_plan_net_t *n, const fire_cluster_t *c,
                                 const char *path);
fire_load_t   fire_plan_net_load(const fire_plan_net_t *n);

/* Remove weight fillers before a net is built: a plan looks at no weights, and random
 * numbers for them would take most of the time. */
void fire_plan_drop_fillers(Caffe__NetParameter *param);

/* ---- the grid (grid.c) ---- */

/* One prediction. */
typedef struct fire_plan_row {
    int               batch, workers; /* batch: samples per step, of all workers */
    const char       *comm;           /* the algorithm as asked for; the caller's */
    fire_mode_t       mode;           /* the same, parsed */
    fire_cost_curve_t curve;          /* seconds of an allreduce by its bytes */
    fire_step_times_t t;              /* of one step, in seconds */
    double            speedup;        /* over one worker, or over the baseline */
} fire_plan_row_t;

typedef struct fire_plan {
    const char     *name; /* of the net */
    fire_cluster_t  cluster;
    fire_plan_net_t net;
    double          bucket;   /* bytes of gradients summed together; 0: all */
    bool            overlap;  /* sum gradients while backward runs */
    double          baseline; /* samples/s that speed-ups count from; 0: one worker's */
    fire_plan_row_t *row;
    int64_t          nrow, cap;
} fire_plan_t;

typedef struct fire_plan_batch {
    int  size;
    bool per_worker; /* size is that of each worker, not of all together */
} fire_plan_batch_t;

/* The axes of a grid: lists of the caller, which must outlive the plan. */
typedef struct fire_plan_axes {
    const fire_plan_batch_t *batch;
    const int               *workers;
    const char *const       *comm; /* "NAME[:colors=K][:piece=BYTES]" */
    int                      nbatch, nworkers, ncomm;
    const char              *compress; /* a codec, or "none" */
} fire_plan_axes_t;

/* Can the messages of this algorithm be simulated on the cluster? Not those of other
 * libraries; hierarchical ones only where a node has several workers. */
bool fire_plan_can_price(const fire_plan_t *p, const fire_algo_t *algo);

/* Predict all rows: for each worker count each algorithm, and for each of these each
 * batch. Batches too small for their workers are left out with a warning. */
fire_status_t fire_plan_fill(fire_plan_t *p, const fire_plan_axes_t *axes);
void          fire_plan_fini(fire_plan_t *p); /* rows and net */

/* The step of a row with other settings than the plan's. */
fire_status_t fire_plan_replay(const fire_plan_t *p, const fire_plan_row_t *row,
                               const fire_cost_curve_t *curve, double bucket,
                               bool overlap, fire_step_times_t *t);

/* The fastest row for this batch and number of workers; NULL: there is none. */
const fire_plan_row_t *fire_plan_best(const fire_plan_t *p, int batch, int workers);

/* ---- what follows from it ---- */

/* Append in words which setting to use for a batch, why, and what limits it
 * (advice.c). */
fire_status_t fire_plan_advise(const fire_plan_t *p, int batch, fire_str_t *out);

/* Measure the machine that runs this and write its file (measure.c). Every worker calls
 * it; rank 0 writes. `threads` is what each worker may use, 0: all cores. */
fire_status_t fire_plan_measure(fire_comm_t *comm, int threads, const char *path);
#endif
