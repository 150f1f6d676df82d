/* parallel.c - threads that take items from a shared counter. */
#include "base/parallel.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include "base/host/cores.h"
#include "base/log.h"

typedef struct job {
    int64_t            n;
    fire_parallel_fn_t fn;
    void              *arg;
    _Atomic int64_t    next;    /* item that nobody has taken */
    atomic_int         workers; /* numbers given so far */
    atomic_bool        failed;
    pthread_mutex_t    lock;   /* of the members below */
    fire_status_t      status; /* of the failure with the lowest item, */
    int64_t            bad;    /* that item, */
    char               error[1024];
    fire_log_context_t log_context; /* the calling thread's */
} job_t;

int fire_parallel_threads(int wanted)
{
    int n = wanted > 0 ? wanted : fire_cores_of_machine();

    return n < 1 ? 1 : n > FIRE_MAX_PARALLEL ? FIRE_MAX_PARALLEL : n;
}

static void note_error(job_t *j, int64_t i, fire_status_t st)
{
    pthread_mutex_lock(&j->lock);
    if (j->status == FIRE_OK || i < j->bad) {
        j->status = st;
        j->bad    = i;
        snprintf(j->error, sizeof(j->error), "%s", fire_last_error());
    }
    pthread_mutex_unlock(&j->lock);
    atomic_store(&j->failed, true);
}

static void work(job_t *j)
{
    int     worker = atomic_fetch_add(&j->workers, 1);
    int64_t i;

    while (!atomic_load(&j->failed) && (i = atomic_fetch_add(&j->next, 1)) < j->n) {
        fire_status_t st = j->fn(j->arg, worker, i);

        if (st < 0) note_error(j, i, st);
    }
}

static void *run_thread(void *arg)
{
    job_t *j = arg;

    fire_log_set_context(&j->log_context);
    work(j);
    return NULL;
}

fire_status_t fire_parallel(int64_t n, int threads, fire_parallel_fn_t fn, void *arg)
{
    job_t     j    = {.n = n, .fn = fn, .arg = arg, .log_context = fire_log_context()};
    int       want = fire_parallel_threads(threads), started = 0;
    pthread_t thread[FIRE_MAX_PARALLEL];

    pthread_mutex_init(&j.lock, NULL);
    while (started < want - 1 && started < n - 1 &&
           pthread_create(&thread[started], NULL, run_thread, &j) == 0)
        started++;
    work(&j);
    for (int i = 0; i < started; i++)
        pthread_join(thread[i], NULL);
    pthread_mutex_destroy(&j.lock);
    return j.status < 0 ? FIRE_FAIL(j.status, "%s", j.error) : FIRE_OK;
}
