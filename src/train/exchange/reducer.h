/* reducer.h - from the gradients of one worker to updated weights: sums them over all
 * workers and has the solver apply the sums. The trainer's iteration talks to this
 * interface and does not know who sums.
 *
 * Gradients are spans [first, first + n) of one array, in the order in which backward
 * finishes them (grads.h). One iteration makes these calls, from the trainer's thread:
 *
 *   begin(iter)       all forward passes are done
 *   ready(0, head)    scalars and statistics hold this worker's sum over its lanes
 *   ready(first, n)   so do the gradients of one layer; called per layer, in the order
 *                     of the array, while backward goes on with the next layer
 *   finish()          backward has ended
 *   wait(first, n)    return when the weights of that span are updated; called per
 *                     layer, just before its next forward
 *
 * There are three kinds:
 *
 *   local      one worker: nothing to sum, finish() updates
 *   exchange   the engine of exchange.h: sums on the hosts, in buckets, while backward
 *              runs; updates each bucket when its sum is complete
 *   nccl       each worker has a GPU: NCCL sums from GPU to GPU, finish() updates */
#ifndef FIRE_TRAIN_EXCHANGE_REDUCER_H
#define FIRE_TRAIN_EXCHANGE_REDUCER_H
#include "solver/solver.h"
#include "train/exchange/exchange.h"
#include "train/exchange/grads.h"
#include "train/profile.h"

typedef struct fire_reducer fire_reducer_t;

/* Functions that are NULL have nothing to do. */
typedef struct fire_reducer_ops {
    const char *name;
    /* The host takes no part between the launch of an iteration and its loss, so that a
     * GPU can replay recorded iterations and the host can work ahead. */
    bool unattended;
    /* After wait(0, head), grads->sum holds the scalars of all workers. Otherwise they
     * are where the net is, in grads->here. */
    bool sums_on_host;

    fire_status_t (*begin)(fire_reducer_t *r, int64_t iter);
    fire_status_t (*ready)(fire_reducer_t *r, int64_t first, int64_t n);
    fire_status_t (*finish)(fire_reducer_t *r);
    fire_status_t (*wait)(fire_reducer_t *r, int64_t first, int64_t n);
    /* Between layers: shows the other workers that this one is alive, and fails if one
     * of them gave up. */
    fire_status_t (*beat)(fire_reducer_t *r);
    /* Add what was measured since the last call to r->profile. Nothing may be in
     * flight: call it between begin() and the first ready(), or after wait(). */
    fire_status_t (*measure)(fire_reducer_t *r);
    /* Where each worker updates only its share: make an array that is laid out as
     * grads[first, first + n), of which each worker has set its own share, whole on all
     * of them. Between iterations. */
    fire_status_t (*gather)(fire_reducer_t *r, int64_t first, int64_t n, float *values);
    /* Error feedback of compression: *n_p floats, NULL without compression. */
    float *(*residual)(fire_reducer_t *r, int64_t *n_p);
    void (*destroy)(fire_reducer_t *r);
} fire_reducer_ops_t;

/* Common to all kinds, which have it as their first member. Owns nothing. */
struct fire_reducer {
    const fire_reducer_ops_t *ops;
    fire_net_t               *net;
    fire_solver_t            *solver;
    fire_grads_t             *grads;
    fire_profile_t           *profile; /* NULL: nothing is measured */
};

typedef struct fire_reducer_options {
    const Caffe__SolverParameter *param;
    fire_comm_t                  *comm; /* NULL: one worker */
    fire_net_t                   *net;
    fire_solver_t                *solver;
    fire_profile_t               *profile;    /* or NULL */
    int                           lanes;      /* of all workers */
    int                           lane_count; /* of this one */
    const int
           *lane;  /* [workers + 1] the first ones of each; NULL: the same number each,
                        a power of two */
    int64_t batch; /* images per pass, all workers: for the log */
} fire_reducer_options_t;

/* Choose a kind and its settings from the solver file, the workers and the device; lay
 * out the gradients of the net as that kind needs them. All workers call it. Destroy
 * the reducer before net and solver, *grads_p after them. */
fire_status_t fire_reducer_create(const fire_reducer_options_t *options,
                                  fire_grads_t **grads_p, fire_reducer_t **reducer_p);
void          fire_reducer_destroy(fire_reducer_t *r); /* NULL is allowed */

/* The calls of an iteration; wait() notes in the profile what it waited. */
fire_status_t fire_reducer_begin(fire_reducer_t *r, int64_t iter);
fire_status_t fire_reducer_ready(fire_reducer_t *r, int64_t first, int64_t n);
fire_status_t fire_reducer_finish(fire_reducer_t *r);
fire_status_t fire_reducer_wait(fire_reducer_t *r, int64_t first, int64_t n);
/* wait() for everything, unnoted. */
fire_status_t fire_reducer_sync(fire_reducer_t *r);
fire_status_t fire_reducer_beat(fire_reducer_t *r);
fire_status_t fire_reducer_measure(fire_reducer_t *r);

/* ---- the kinds; `base` gives net, solver, grads and profile ---- */

fire_status_t fire_reducer_create_local(const fire_reducer_t *base,
                                        fire_reducer_t      **reducer_p);
/* Sets the callbacks of *o itself. */
fire_status_t fire_reducer_create_exchange(const fire_reducer_t          *base,
                                           fire_comm_t                   *comm,
                                           const fire_exchange_options_t *o,
                                           fire_reducer_t               **reducer_p);
/* *reducer_p is NULL if the solver does not ask for NCCL and it cannot be used. */
fire_status_t fire_reducer_create_nccl(const fire_reducer_t *base, fire_comm_t *comm,
                                       const fire_exchange_options_t *o,
                                       fire_reducer_t               **reducer_p);

/* The engine of an exchange reducer, NULL for other kinds. */
fire_exchange_t *fire_reducer_engine(const fire_reducer_t *r);

/* ---- for the kinds ---- */

/* Clip, update and flush all parameters now; grads->here holds the final sums. With
 * loss scaling (fp16): divides them by the scale first, unless that is done already,
 * and checks them for overflow. */
fire_status_t fire_reducer_update(fire_reducer_t *r, bool unscaled);

/* The exchange's options from the solver file, the workers and the device; buckets'
 * size needs the number of gradients, so it comes last (exchange_options.c). */
void        fire_exchange_options_read(const fire_reducer_options_t *r,
                                       fire_exchange_options_t      *o);
size_t      fire_exchange_options_bucket(const Caffe__FireParameter    *fire,
                                         const fire_exchange_options_t *o, int64_t floats);
const char *fire_overlap_name(fire_overlap_t overlap); /* as solver files spell it */
#endif
