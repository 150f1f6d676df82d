/* exchange_thread.c - the engine driven by a thread of its own. The trainer raises
 * `upto` and watches buckets become DONE; both are atomic, so that neither waits for
 * the other while it computes. The lock is for sleeping and waking only. */
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

/* Move on until nothing is under way; called and left without the lock. */
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

/* Nothing to do, but other workers ask whether this one lives: while its trainer does,
 * say so. Wakes up now and then, or when there is work. */
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
    fire_threads_set(1); /* updates must not take the trainer's cores */
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
    pthread_condattr_t monotonic; /* as fire_clock_now() is */

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
