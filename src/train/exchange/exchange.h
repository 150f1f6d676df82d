/* exchange.h - sums the gradients of all workers while backward still runs.
 *
 * Gradients are one array, in the order in which backward finishes them (grads.h), so
 * what is final is always a prefix of it, [0, upto). The array is cut into buckets. A
 * bucket's sum starts as soon as the bucket is final, on all workers in the same order.
 * When the sum is complete, `complete` is called for it (the solver updates those
 * weights). The next forward waits for the weights of one layer at a time, never for
 * all of them.
 *
 * The engine is a state machine without threads or clocks of its own;
 * fire_exchange_step() moves it. Who calls that depends on `overlap`: a communication
 * thread (FIRE_OVERLAP_THREAD), the trainer between layers (POLL), or only a caller of
 * wait() (OFF). It knows arrays, not nets, so that simulators can run it
 * (bench/sim/step.c). */
#ifndef FIRE_TRAIN_EXCHANGE_EXCHANGE_H
#define FIRE_TRAIN_EXCHANGE_EXCHANGE_H
#include "comm/comm.h"

/* Who moves the engine. */
typedef enum fire_overlap {
    FIRE_OVERLAP_THREAD, /* a thread of its own */
    FIRE_OVERLAP_POLL,   /* the trainer, between layers and while it waits */
    FIRE_OVERLAP_OFF     /* the trainer, only while it waits */
} fire_overlap_t;

typedef struct fire_exchange_options {
    double         deadline; /* seconds without a sign of life of another worker, after
                                which it counts as dead; 0: none */
    const char    *algo;     /* of algos.def, or "auto" */
    int            colors;   /* of the multicolor algorithm; 0: 4 */
    size_t         piece;    /* bytes of the longest message; 0: chosen */
    size_t         bucket_bytes;
    fire_overlap_t overlap;
    const char    *compress;      /* a codec of comm/codec; NULL or "none" */
    int64_t        compress_from; /* first iteration that compresses; -1: the codec's
                                     default */
    bool           canonical;     /* the same bits for any number of workers */
    const int *lane;    /* [workers + 1] runs of lanes, of which `grads` holds a sum for
                          each root (grads.h); NULL: one sum */
    size_t     stride;  /* floats from one of these sums to the next */
    bool       sharded; /* each worker updates its share, then gathers the others' */
    bool       hold;    /* update only when all sums are there (clipping) */
    void      *arg;
    /* The sum of [first, first + n) is final: update that much. Called once for
     * each bucket, in any order, by the thread that moves the engine. */
    fire_status_t (*complete)(void *arg, int64_t first, int64_t n);
    /* Sharded: the weights of [first, first + n) are complete, with the shares that
     * other workers updated. */
    fire_status_t (*gathered)(void *arg, int64_t first, int64_t n);
    /* (optional) with `hold`: called when all sums are complete, before the first
     * complete(). */
    fire_status_t (*all_summed)(void *arg);
} fire_exchange_options_t;

typedef struct fire_exchange fire_exchange_t;

/* Seconds and bytes since the last call of fire_exchange_account(). */
typedef struct fire_exchange_account {
    double  exposed; /* the training thread waited, or moved the engine itself */
    double  busy;    /* at least one bucket was being summed or gathered */
    double  update;  /* spent in complete() */
    int64_t bytes;   /* sent */
} fire_exchange_account_t;

/* grads[n] is in memory of fire_comm_alloc(); weights[n], laid out alike, only for
 * `sharded`. cut: offsets at which buckets may end, ascending, the last one n. The
 * first bucket is grads[0 ... cut[0]): every worker needs all of it to the bit, so it
 * is neither compressed nor sharded. */
fire_status_t fire_exchange_create(fire_comm_t *comm, float *grads, float *weights,
                                   const int64_t *cut, int ncut,
                                   const fire_exchange_options_t *options,
                                   fire_exchange_t              **exchange_p);
void          fire_exchange_destroy(fire_exchange_t *x); /* NULL is allowed */

/* Before the first ready() of iteration `iter`; everything before must be finished. */
fire_status_t fire_exchange_begin(fire_exchange_t *x, int64_t iter);
/* grads[0 ... upto) is final. */
fire_status_t fire_exchange_ready(fire_exchange_t *x, int64_t upto);
/* Wait until [first, first + n) is updated; finish: until all is. */
fire_status_t fire_exchange_wait(fire_exchange_t *x, int64_t first, int64_t n);
fire_status_t fire_exchange_finish(fire_exchange_t *x);

/* The trainer is alive: call it between layers, and wherever else time passes. Other
 * workers then get signs of life of this one, however long its computation takes. They
 * end half a deadline after the last call, unless this worker is in wait(). Fails if
 * another worker gave up. */
fire_status_t fire_exchange_beat(fire_exchange_t *x);

/* Sharded: values[n] is laid out as grads[first, first + n), and each worker has set
 * the part that it updates: make it whole on all of them. All call it, between
 * iterations. */
fire_status_t fire_exchange_gather(fire_exchange_t *x, int64_t first, int64_t n,
                                   float *values);

fire_exchange_account_t fire_exchange_account(fire_exchange_t *x);
int                     fire_exchange_nbucket(const fire_exchange_t *x);
/* Is it moved by a thread of its own? */
bool fire_exchange_is_threaded(const fire_exchange_t *x);
/* When the sum of bucket i last started and when its weights were complete, by
 * fire_clock_now(). Nothing may be under way. */
void fire_exchange_bucket_times(const fire_exchange_t *x, int i, double *began_p,
                                double *ended_p);
/* What compression has left over so far and adds to the next gradients (error
 * feedback): *n_p floats, part of a run's state; NULL without compression. */
float *fire_exchange_residual(fire_exchange_t *x, int64_t *n_p);
#endif
