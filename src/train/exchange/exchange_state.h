/* exchange_state.h - members of the engine, for exchange.c (the state machine) and
 * exchange_thread.c (the thread that moves it). */
#ifndef FIRE_TRAIN_EXCHANGE_EXCHANGE_STATE_H
#define FIRE_TRAIN_EXCHANGE_EXCHANGE_STATE_H
#include <pthread.h>
#include <stdatomic.h>

#include "base/log.h"
#include "train/exchange/exchange.h"

/*            ready            sum there            updated           gathered
 *   WAITING -------> SUMMING ---------> SUMMED ------------> DONE
 *                                              \--(sharded)-> GATHERING --> DONE  */
typedef enum bucket_state { WAITING, SUMMING, SUMMED, GATHERING, DONE } bucket_state_t;

typedef struct bucket {
    int64_t            first, n;     /* span of the gradients */
    bool               head;         /* the first one: neither compressed nor sharded */
    _Atomic int        state;        /* bucket_state_t; the training thread reads it */
    fire_collective_t *sum, *gather; /* gather: only where updates are sharded */
    fire_collective_t *exact;        /* sum before compression begins; or NULL */
    double             began, ended; /* the last time, by fire_clock_now() */
} bucket_t;

struct fire_exchange {
    fire_comm_t            *comm;
    fire_exchange_options_t o;
    float                  *grads, *weights;
    int64_t                 n;
    int nbucket, nstarted, nsummed, ndone; /* buckets: in all; of this iteration */
    bucket_t               *bucket;
    _Atomic int64_t         upto; /* grads[0 ... upto) is final */
    const fire_codec_t     *codec;
    float                   codec_arg;
    bool                    coding;   /* this iteration compresses */
    float                  *residual; /* [2n]: left over of this worker's gradients [n],
                                          and of the sums that it made [n] */
    fire_exchange_account_t account;
    int64_t                 bytes_before; /* sent until the last account() */
    double                  busy_since;   /* 0: nothing is under way */

    _Atomic double beat; /* fire_clock_now() of the last beat() */

    /* Only with a thread, which moves the engine without holding the lock, while
     * `stepping` is set. Everything else that both threads use is under the lock or
     * atomic. */
    fire_log_context_t log_context; /* the trainer's */
    pthread_t          thread;
    pthread_mutex_t    lock;
    pthread_cond_t     work, news; /* there is something to do; something was done */
    bool               threaded, stepping, quit;
    fire_status_t      status; /* the first failure of the thread, and why */
    char               error[1024];
};

/* Are the gradients of this bucket compressed? */
static inline bool fire_bucket_is_coded(const fire_exchange_t *x, const bucket_t *b)
{
    return x->codec != NULL && !b->head;
}

/* Does each worker update a part of this bucket only? */
static inline bool fire_bucket_is_sharded(const fire_exchange_t *x, const bucket_t *b)
{
    return x->o.sharded && !b->head;
}

/* Move the engine: start buckets that are final, test those under way, update those
 * that are summed. *moved_p: did anything change? */
fire_status_t fire_exchange_step(fire_exchange_t *x, bool *moved_p);
bool fire_exchange_is_updated(const fire_exchange_t *x, int64_t first, int64_t n);

/* ---- exchange_thread.c ---- */

fire_status_t fire_exchange_thread_start(fire_exchange_t *x);
void          fire_exchange_thread_stop(fire_exchange_t *x);
fire_status_t fire_exchange_thread_ready(fire_exchange_t *x, int64_t upto);
void          fire_exchange_thread_idle(fire_exchange_t *x); /* return when it sleeps */
fire_status_t fire_exchange_thread_check(fire_exchange_t *x); /* its status */
fire_status_t fire_exchange_thread_wait(fire_exchange_t *x, int64_t first, int64_t n);
#endif
