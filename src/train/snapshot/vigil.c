/* vigil.c - answers other workers while this one writes or checks a snapshot, which can
 * take longer than their deadline. It is a thread that lives for that long: a process
 * that is stopped does not answer, and one that hangs is given up by the others after
 * twenty deadlines. */
#include "train/snapshot/vigil.h"

#include <time.h>

static const long NAP = 100000000; /* nanoseconds */

static void *watch(void *arg)
{
    fire_vigil_t *v = arg;

    fire_log_set_context(&v->context);
    pthread_mutex_lock(&v->lock);
    while (!v->over) {
        struct timespec until;

        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += NAP;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        /* a failure is met again by the thread that works */
        if (fire_comm_poll(v->trainer->options.comm) >= 0 &&
            v->trainer->reducer != NULL)
            v->last = fire_trainer_beat(v->trainer);
        pthread_cond_timedwait(&v->end, &v->lock, &until);
    }
    pthread_mutex_unlock(&v->lock);
    return NULL;
}

void fire_vigil_begin(fire_trainer_t *t, fire_vigil_t *v)
{
    *v = (fire_vigil_t){.trainer = t, .context = fire_log_context()};
    if (t->options.comm == NULL || fire_trainer_size(t) < 2) return;
    pthread_mutex_init(&v->lock, NULL);
    pthread_cond_init(&v->end, NULL);
    v->running = pthread_create(&v->thread, NULL, watch, v) == 0;
}

void fire_vigil_end(fire_vigil_t *v)
{
    if (!v->running) return;
    pthread_mutex_lock(&v->lock);
    v->over = true;
    pthread_cond_signal(&v->end);
    pthread_mutex_unlock(&v->lock);
    pthread_join(v->thread, NULL);
    pthread_cond_destroy(&v->end);
    pthread_mutex_destroy(&v->lock);
    v->running = false;
}
