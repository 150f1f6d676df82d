/* exchange_thread.c - moves the engine in a thread of its own. The trainer's thread
 * writes `upto` and reads the buckets' states; both are atomic, so neither thread waits
 * for the other while it computes. The lock only serves sleeping and waking up. */
#include <stdio.h>
#include <time.h>

#include "base/clock.h"
#include "device/cpu/parallel.h"
#include "train/exchange/exchange_state.h"

static bool has_work(const fire_exchange_t *x)
{
    const bucket_t *next = &x->bucket[x->nstarted];

    if (x->status < 0 || x->ndone == x->nbucket) return false;
    return x->nstarted > x->ndone ||
           (x->nstarted < x->nbucket && next->first + next->n <= x->upto);
}

/* Move the engine until nothing is under way. The lock is not held. */
static fire_status_t work_off(fire_exchange_t *x)
{
    fire_pause_t idle = {0};

    while (has_work(x)) {
        bool moved;

        FIRE_TRY(fire_exchange_step(x, &moved));
        if (!moved) {
            fire_pause(&idle);
            continue;
        }
        idle = (fire_pause_t){0};
        pthread_mutex_lock(&x->lock);
        pthread_cond_broadcast(&x->news);
        pthread_mutex_unlock(&x->lock);
    }
    return FIRE_OK;
}

/* Sleep until there is work, but at most a tenth of a second: other workers ask whether
 * this one is alive, and while its trainer is, this thread answers. The lock is
 * held. */
static fire_status_t stand_by(fire_exchange_t *x)
{
    const double    nap = 0.1;
    double          now = fire_clock_now(), until = now + nap;
    struct timespec when = {.tv_sec = (time_t)until};

    when.tv_nsec = (long)(1e9 * (until - (double)when.tv_sec));
    if (x->o.deadline <= 0 || now - atomic_load(&x->beat) < x->o.deadline / 2)
        FIRE_TRY(fire_comm_poll(x->comm));
    pthread_cond_timedwait(&x->work, &x->lock, &when);
    return FIRE_OK;
}

static void *run(void *arg)
{
    fire_exchange_t *x = arg;
    fire_status_t    st;

    fire_log_set_context(&x->log_context);
    fire_threads_set(1); /* updates must not compete with the trainer for cores */
    pthread_mutex_lock(&x->lock);
    while (!x->quit) {
        if (x->status < 0) {
            pthread_cond_wait(&x->work, &x->lock);
            continue;
        }
        if (has_work(x)) {
            x->stepping = true;
            pthread_mutex_unlock(&x->lock);
            st = work_off(x);
            pthread_mutex_lock(&x->lock);
            x->stepping = false;
        } else {
            st = stand_by(x);
        }
        if (st < 0) {
            x->status = st;
            snprintf(x->error, sizeof(x->error), "%s", fire_last_error());
        }
        pthread_cond_broadcast(&x->news);
    }
    pthread_mutex_unlock(&x->lock);
    return NULL;
}

fire_status_t fire_exchange_thread_start(fire_exchange_t *x)
{
    pthread_condattr_t monotonic; /* the clock of fire_clock_now() */

    x->log_context = fire_log_context();
    pthread_mutex_init(&x->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&x->work, &monotonic);
    pthread_condattr_destroy(&monotonic);
    pthread_cond_init(&x->news, NULL);
    if (pthread_create(&x->thread, NULL, run, x) != 0)
        return FIRE_FAIL(FIRE_ERR_NOMEM, "cannot start the communication thread; "
                                         "--overlap poll does without");
    x->threaded = true;
    return FIRE_OK;
}

void fire_exchange_thread_stop(fire_exchange_t *x)
{
    pthread_mutex_lock(&x->lock);
    x->quit = true;
    pthread_cond_signal(&x->work);
    pthread_mutex_unlock(&x->lock);
    pthread_join(x->thread, NULL);
    pthread_cond_destroy(&x->work);
    pthread_cond_destroy(&x->news);
    pthread_mutex_destroy(&x->lock);
    x->threaded = false;
}

static fire_status_t status_of(const fire_exchange_t *x)
{
    return x->status < 0 ? FIRE_FAIL(x->status, "%s", x->error) : FIRE_OK;
}

fire_status_t fire_exchange_thread_ready(fire_exchange_t *x, int64_t upto)
{
    fire_status_t st;

    atomic_store(&x->upto, upto);
    pthread_mutex_lock(&x->lock);
    st = status_of(x);
    pthread_cond_signal(&x->work);
    pthread_mutex_unlock(&x->lock);
    return st;
}

fire_status_t fire_exchange_thread_check(fire_exchange_t *x)
{
    fire_status_t st;

    pthread_mutex_lock(&x->lock);
    st = status_of(x);
    pthread_mutex_unlock(&x->lock);
    return st;
}

void fire_exchange_thread_idle(fire_exchange_t *x)
{
    pthread_mutex_lock(&x->lock);
    while (x->stepping)
        pthread_cond_wait(&x->news, &x->lock);
    pthread_mutex_unlock(&x->lock);
}

fire_status_t fire_exchange_thread_wait(fire_exchange_t *x, int64_t first, int64_t n)
{
    fire_status_t st;

    if (fire_exchange_is_updated(x, first, n)) return FIRE_OK; /* the usual case */
    pthread_mutex_lock(&x->lock);
    while (x->status >= 0 && !fire_exchange_is_updated(x, first, n))
        pthread_cond_wait(&x->news, &x->lock);
    st = status_of(x);
    pthread_mutex_unlock(&x->lock);
    return st;
}
