/* exchange.h - gradients of all workers are added while backward still runs.
 *
 * Gradients lie in one array in the order in which backward finishes them (grads.h),
 * so what is final is always a head of the array. The array is cut into buckets; a
 * bucket starts as soon as it is final, on all workers in the same order. When its sum
 * is there, the owner's `complete` is called for it (the solver updates the weights),
 * and the next forward waits for what it needs, layer by layer, never for everything.
 *
 * The engine is a state machine without threads or clocks of its own: fire_exchange_
 * step() moves it. It is driven by a communication thread (FIRE_OVERLAP_THREAD), by
 * calls between layers (POLL), or only when waited for (OFF). It knows arrays, not
 * nets, so that a simulator can run it too. */
#ifndef FIRE_TRAIN_EXCHANGE_EXCHANGE_H
#define FIRE_TRAIN_EXCHANGE_EXCHANGE_H
#include "comm/comm.h"

typedef enum fire_overlap {
    FIRE_OVERLAP_THREAD,
    FIRE_OVERLAP_POLL,
    FIRE_OVERLAP_OFF
} fire_overlap_t;

typedef struct fire_exchange_options {
    double         deadline; /* seconds; 0: none */
    const char    *algo;     /* comm's names, or "auto" */
    int            colors;
    size_t         piece; /* bytes of the longest message; 0: a good one */
    size_t         bucket_bytes;
    fire_overlap_t overlap;
    const char    *compress;      /* comm's codecs; NULL or "none" */
    int64_t        compress_from; /* first iteration with them; -1: the codec's own */
    bool           canonical;     /* the same bits for any number of workers */
    bool           sharded; /* each worker updates its share, then they are gathered */
    bool           hold;    /* update only when all sums are there (clipping) */
    void          *arg;
    /* The sum of [first, first + n) is final: update that much. Called in any order of
     * buckets, once each, from whichever thread drives the engine. */
    fire_status_t (*complete)(void *arg, int64_t first, int64_t n);
    /* Sharded: the weights of [first, first + n) are there, others' shares included. */
    fire_status_t (*gathered)(void *arg, int64_t first, int64_t n);
    /* (optional) all sums are there, before the first complete() of `hold`. */
    fire_status_t (*all_summed)(void *arg);
} fire_exchange_options_t;

typedef struct fire_exchange fire_exchange_t;

/* Seconds and bytes since the last call of fire_exchange_account(). */
typedef struct fire_exchange_account {
    double  exposed; /* the training thread waited, or moved the engine itself */
    double  busy;    /* a bucket was under way */
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

/* The trainer is at work: call it between layers, and wherever time passes. Other
 * workers then know that this one lives, however long its work takes; from one that
 * has not called it, and waits for nothing, for half the deadline, they hear nothing
 * more. Tells of a worker that gave up. */
fire_status_t fire_exchange_beat(fire_exchange_t *x);

/* Sharded: bring together an array that lies like grads[first, first + n), of which
 * each worker has set the part that it updates. All call it, between iterations. */
fire_status_t fire_exchange_gather(fire_exchange_t *x, int64_t first, int64_t n,
                                   float *values);

fire_exchange_account_t fire_exchange_account(fire_exchange_t *x);
int                     fire_exchange_nbucket(const fire_exchange_t *x);
/* Does it move in a thread of its own, beside the training thread? */
bool fire_exchange_is_threaded(const fire_exchange_t *x);
/* When bucket i was last begun and ended, by fire_clock_now(); nothing may be under
 * way. */
void fire_exchange_bucket_times(const fire_exchange_t *x, int i, double *began_p,
                                double *ended_p);
/* Error feedback of compression, *n_p floats, or NULL: part of a run's state. */
float *fire_exchange_residual(fire_exchange_t *x, int64_t *n_p);
#endif
