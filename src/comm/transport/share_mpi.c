/* share_mpi.c - memory that the processes of a node share, as MPI shared windows. */
#include <string.h>

#ifdef FIRE_SIMGRID
#    include <smpi/smpi.h>
#endif

#include "base/alloc.h"
#include "base/log.h"
#include "comm/transport/job_mpi.h"

static fire_status_t open_window(const fire_job_t *job, fire_share_t *s)
{
    const fire_mpi_t *mpi = job->mpi;

    FIRE_TRY(
        FIRE_MPI(mpi, win_allocate_shared(job->node, s->bytes, &s->base, &s->win)));
    for (int r = 0; r < job->node_size; r++)
        FIRE_TRY(FIRE_MPI(mpi, win_shared_query(s->win, r, &s->peer[r])));
    FIRE_TRY(FIRE_MPI(mpi, win_lock_all(s->win, true)));
    memset(s->base, 0, s->bytes);
    return FIRE_OK;
}

static void close_window(const fire_job_t *job, fire_share_t *s)
{
    job->mpi->win_unlock_all(s->win);
    job->mpi->win_free(&s->win);
}

/* All processes of the node get a window, or none: both ends of a message must agree on
 * whether it is zero-copy. */
static fire_status_t try_window(const fire_job_t *job, fire_share_t *s)
{
    fire_status_t st = open_window(job, s);
    int           ok = st == FIRE_OK;

    FIRE_TRY(FIRE_MPI(job->mpi, allreduce(job->node, FIRE_MPI_MIN_INT, &ok, 1)));
    if (ok) return FIRE_OK;
    FIRE_LOG(WARNING, "no shared memory of %zu bytes, exchange will be slower: %s",
             s->bytes, st < 0 ? fire_last_error() : "another rank got none");
    if (st == FIRE_OK) close_window(job, s);
    s->win = NULL;
    return FIRE_OK;
}

#ifdef FIRE_SIMGRID
fire_status_t fire_share_fold(size_t bytes, void **memory_p)
{
    void *memory = SMPI_SHARED_MALLOC(bytes > 0 ? bytes : 1);

    if (memory == NULL) return FIRE_FAIL(FIRE_ERR_NOMEM, "no memory to fold");
    *memory_p = memory;
    return FIRE_OK;
}
#endif

/* Plain memory of this process alone. */
static fire_status_t get_own(fire_share_t *s)
{
#ifdef FIRE_SIMGRID
    return fire_share_fold(s->bytes, (void **)&s->base);
#else
    return fire_alloc(s->bytes, 1, "exchange buffer", (void **)&s->base);
#endif
}

static fire_status_t fill(const fire_job_t *job, fire_share_t *s)
{
    FIRE_TRY(FIRE_NEW(&s->peer, job->node_size));
#ifndef FIRE_SIMGRID /* SimGrid's shared windows give wrong addresses */
    if (job->node_size > 1) FIRE_TRY(try_window(job, s));
#endif
    return s->win != NULL ? FIRE_OK : get_own(s);
}

fire_status_t fire_share_alloc(fire_job_t *job, size_t bytes, void **memory_p)
{
    fire_share_t *s;
    fire_status_t st;

    FIRE_TRY(FIRE_NEW(&s, 1));
    s->number = job->nshare++;
    s->bytes  = bytes > 0 ? bytes : 1;
    st        = fill(job, s);
    if (st < 0) {
        fire_free(s->peer);
        fire_free(s);
        return st;
    }
    s->next     = job->shares;
    job->shares = s;
    *memory_p   = s->base;
    return FIRE_OK;
}

void fire_share_free(fire_job_t *job, void *memory)
{
    for (fire_share_t **at = &job->shares; *at != NULL; at = &(*at)->next) {
        fire_share_t *s = *at;

        if (s->base != memory) continue;
        *at = s->next;
        if (s->win != NULL)
            close_window(job, s);
        else
            fire_free(s->base);
        fire_free(s->peer);
        fire_free(s);
        return;
    }
}

const fire_share_t *fire_share_find(const fire_job_t *job, const void *memory)
{
    const char *at = memory;

    for (const fire_share_t *s = job->shares; s != NULL; s = s->next)
        if (s->win != NULL && at >= s->base && at < s->base + s->bytes) return s;
    return NULL;
}

const fire_share_t *fire_share_number(const fire_job_t *job, int number)
{
    const fire_share_t *s = job->shares;

    while (s != NULL && s->number != number)
        s = s->next;
    return s;
}
