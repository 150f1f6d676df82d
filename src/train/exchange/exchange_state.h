/* exchange_state.h - what exchange.c (the engine) and exchange_thread.c (its thread)
 * share. */
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
    int64_t            first, n;
    bool               head;  /* the first one: neither compressed nor sharded */
    _Atomic int        state; /* bucket_state_t; DONE is seen by the waiting thread */
    fire_collective_t *sum, *gather;
    fire_collective_t *exact; /* the sum while nothing is compressed yet, or NULL */
    double             began, ended; /* the last time, by fire_clock_now() */
} bucket_t;

struct fire_exchange {
    fire_comm_t            *comm;
    fire_exchange_options_t o;
    float                  *grads, *weights;
    int64_t                 n;
    int                     nbucket, nstarted, nsummed, ndone;
    bucket_t               *bucket;
    _Atomic int64_t         upto; /* grads[0 ... upto) is final */
    const fire_codec_t     *codec;
    float                   codec_arg;
    bool                    coding;   /* compresses in this iteration */
    float                  *residual; /* [2n]: of this worker's part; of sums it made */
    fire_exchange_account_t account;
    int64_t                 bytes_before;
    double                  busy_since; /* 0: nothing is under way */

    _Atomic double beat; /* when the trainer last showed life */

    /* Only with a thread. It moves the engine outside of the lock, with `stepping` set;
     * everything else that both sides touch is under the lock or atomic. */
    fire_log_context_t log_context; /* the trainer's */
    pthread_t          thread;
    pthread_mutex_t    lock;
    pthread_cond_t     work, news; /* something to do; something was done */
    bool               threaded, stepping, quit;
    fire_status_t      status;
    char               error[1024];
};

/* Move the engine: start what is ready, test what is under way, update what is summed.
 * *moved_p tells whether anything happened. */
fire_status_t fire_exchange_step(fire_exchange_t *x, bool *moved_p);
bool fire_exchange_is_updated(const fire_exchange_t *x, int64_t first, int64_t n);

fire_status_t fire_exchange_thread_start(fire_exchange_t *x);
void          fire_exchange_thread_stop(fire_exchange_t *x);
fire_status_t fire_exchange_thread_ready(fire_exchange_t *x, int64_t upto);
void          fire_exchange_thread_idle(fire_exchange_t *x);  /* wait until it sleeps */
fire_status_t fire_exchange_thread_check(fire_exchange_t *x); /* how it is doing */
fire_status_t fire_exchange_thread_wait(fire_exchange_t *x, int64_t first, int64_t n);
#endif
