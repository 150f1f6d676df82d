/* saver.c - the thread that writes snapshots. It has less of the processor than those
 * that train, where there is not enough for all. */
#include "train/snapshot/saver.h"

#include <stdio.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

enum { NICER = 10 };

static void write_now(fire_saver_t *s)
{
    fire_status_t st = fire_copy_write(s->copy);

    pthread_mutex_lock(&s->lock);
    s->status  = st;
    s->seconds = fire_clock_now() - s->began;
    if (st < 0) snprintf(s->error, sizeof(s->error), "%s", fire_last_error());
    s->over = true;
    pthread_cond_broadcast(&s->end);
    pthread_mutex_unlock(&s->lock);
}

/* Of Linux, a thread has a nice value of its own; 0 means the calling one. */
static void *run(void *arg)
{
    fire_saver_t *s = arg;

    fire_log_set_context(&s->context);
    setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) + NICER);
    write_now(s);
    return NULL;
}

void fire_saver_start(fire_saver_t *s, fire_copy_t *copy)
{
    pthread_condattr_t attr;

    *s = (fire_saver_t){
        .copy = copy, .began = fire_clock_now(), .context = fire_log_context()};
    pthread_mutex_init(&s->lock, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&s->end, &attr);
    pthread_condattr_destroy(&attr);
    s->threaded = pthread_create(&s->thread, NULL, run, s) == 0;
    if (!s->threaded) write_now(s);
}

static struct timespec after(double seconds)
{
    struct timespec t;
    double          whole;

    clock_gettime(CLOCK_MONOTONIC, &t);
    whole = (double)t.tv_sec + 1e-9 * (double)t.tv_nsec + seconds;
    return (struct timespec){(time_t)whole,
                             (long)(1e9 * (whole - (double)(time_t)whole))};
}

bool fire_saver_wait(fire_saver_t *s, double seconds)
{
    struct timespec until;
    int             late = 0;
    bool            over;

    if (s->copy == NULL) return true;
    until = after(seconds);
    pthread_mutex_lock(&s->lock);
    while (!s->over && seconds > 0 && late == 0)
        late = pthread_cond_timedwait(&s->end, &s->lock, &until);
    over = s->over;
    pthread_mutex_unlock(&s->lock);
    return over;
}

fire_status_t fire_saver_finish(fire_saver_t *s, fire_copy_t **copy_p)
{
    if (s->threaded) pthread_join(s->thread, NULL);
    pthread_cond_destroy(&s->end);
    pthread_mutex_destroy(&s->lock);
    *copy_p = s->copy;
    s->copy = NULL;
    return s->status >= 0 ? FIRE_OK : FIRE_FAIL(s->status, "%s", s->error);
}

void fire_saver_end(fire_saver_t *s)
{
    fire_copy_t *copy;

    if (s->copy == NULL) return;
    if (fire_saver_finish(s, &copy) < 0)
        FIRE_LOG(WARNING, "no snapshot of iteration %lld: %s", (long long)copy->iter,
                 fire_last_error());
    fire_copy_free(copy);
}
