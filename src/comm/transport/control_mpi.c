/* control_mpi.c - ping, pong and fail between the processes of an MPI job. */
#include "comm/transport/control_mpi.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"

fire_status_t fire_control_open(const fire_job_t *job, fire_control_t *c)
{
    c->mpi         = job->mpi;
    c->rank        = job->rank;
    c->size        = job->size;
    c->failed_rank = -1;
    c->ping.kind   = FIRE_CONTROL_PING;
    c->pong.kind   = FIRE_CONTROL_PONG;
    c->fail.kind   = FIRE_CONTROL_FAIL;
    FIRE_TRY(FIRE_NEW(&c->last_seen, 2 * job->size));
    c->asked_at = c->last_seen + job->size;
    return fire_job_dup(job, &c->comm);
}

void fire_control_close(fire_control_t *c, bool broken)
{
    if (c->comm != NULL && !broken) c->mpi->comm_free(&c->comm);
    fire_free(c->last_seen);
}

/* Sends without waiting: nobody needs to know when it is done. An error is ignored: the
 * peer will not answer, and that is noticed. */
static void send_message(fire_control_t *c, int peer,
                         const fire_control_message_t *message)
{
    size_t len = offsetof(fire_control_message_t, cause) + strlen(message->cause) + 1;

    c->mpi->isend_and_free(c->comm, peer, 0, message, (int)len);
}

fire_status_t fire_control_listen(fire_control_t *c, fire_mpi_requests_t *requests,
                                  int i)
{
    return FIRE_MPI(c->mpi, irecv(c->comm, FIRE_MPI_ANY_SOURCE, 0, &c->received,
                                  (int)sizeof(c->received), requests, i));
}

fire_status_t fire_control_handle(fire_control_t *c, int peer,
                                  fire_mpi_requests_t *requests, int i)
{
    c->last_seen[peer] = fire_clock_now();
    if (c->received.kind == FIRE_CONTROL_PING) send_message(c, peer, &c->pong);
    if (c->received.kind != FIRE_CONTROL_FAIL)
        return fire_control_listen(c, requests, i);
    c->failed_rank = peer;
    return FIRE_OK;
}

/* Has the peer sent a control message in the last `within` seconds? Pings it when half
 * of that time has passed, so that a rank that answers is never taken for dead. */
bool fire_control_alive(fire_control_t *c, int peer, double within)
{
    double now = fire_clock_now(), age = now - c->last_seen[peer];

    if (age > within / 2 && now - c->asked_at[peer] > within / 4) {
        c->asked_at[peer] = now;
        send_message(c, peer, &c->ping);
    }
    return age < within;
}

void fire_control_fail(fire_control_t *c, const char *cause)
{
    snprintf(c->fail.cause, sizeof(c->fail.cause), "%s", cause);
    for (int r = 0; r < c->size; r++)
        if (r != c->rank) send_message(c, r, &c->fail);
}
