#include "comm/transport/control_mpi.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"

fire_status_t fire_control_open(const fire_job_t *job, fire_control_t *c)
{
    c->rank        = job->rank;
    c->size        = job->size;
    c->failed_rank = -1;
    c->ping.kind   = FIRE_WORD_PING;
    c->pong.kind   = FIRE_WORD_PONG;
    c->fail.kind   = FIRE_WORD_FAIL;
    FIRE_TRY(FIRE_NEW(&c->heard_at, 2 * job->size));
    c->asked_at = c->heard_at + job->size;
    return fire_job_dup(job, &c->comm);
}

void fire_control_close(fire_control_t *c, bool broken)
{
    if (c->comm != MPI_COMM_NULL && !broken) MPI_Comm_free(&c->comm);
    fire_free(c->heard_at);
}

static void say(fire_control_t *c, int peer, const fire_word_t *word)
{
    size_t      len = offsetof(fire_word_t, cause) + strlen(word->cause) + 1;
    MPI_Request r;

    if (MPI_Isend(word, (int)len, MPI_BYTE, peer, 0, c->comm, &r) == MPI_SUCCESS)
        MPI_Request_free(&r);
}

fire_status_t fire_control_listen(fire_control_t *c, MPI_Request *request)
{
    return FIRE_MPI(MPI_Irecv(&c->heard, (int)sizeof(c->heard), MPI_BYTE,
                              MPI_ANY_SOURCE, 0, c->comm, request));
}

fire_status_t fire_control_hear(fire_control_t *c, int peer, MPI_Request *request)
{
    c->heard_at[peer] = fire_clock_now();
    if (c->heard.kind == FIRE_WORD_PING) say(c, peer, &c->pong);
    if (c->heard.kind != FIRE_WORD_FAIL) return fire_control_listen(c, request);
    c->failed_rank = peer;
    return FIRE_OK;
}

/* Asks again before the last answer is too old, so that a rank that answers is never
 * taken for dead in between. */
bool fire_control_alive(fire_control_t *c, int peer, double within)
{
    double now = fire_clock_now(), age = now - c->heard_at[peer];

    if (age > within / 2 && now - c->asked_at[peer] > within / 4) {
        c->asked_at[peer] = now;
        say(c, peer, &c->ping);
    }
    return age < within;
}

void fire_control_fail(fire_control_t *c, const char *cause)
{
    snprintf(c->fail.cause, sizeof(c->fail.cause), "%s", cause);
    for (int r = 0; r < c->size; r++)
        if (r != c->rank) say(c, r, &c->fail);
}
