/* p2p_mpi.c - two-sided MPI: messages of the transport become MPI_Isend and MPI_Irecv.
 *
 * Inside a node, a message whose bytes are in shared memory (share_mpi.c) is zero-copy:
 *
 *   sender                                   receiver
 *     | -- note: share, offset, length --> |   maps it to its view of the memory,
 *     |                                    |   reads it, perhaps writes a sum there
 *     | <-------- receipt (empty) -------- |   release()
 *
 * The sender may use its memory again after the receipt. */
#include <limits.h>
#include <stdatomic.h>
#include <string.h>

#include "comm/transport/p2p_mpi.h"

#ifdef FIRE_SIMGRID
#    include <simgrid/engine.h>
#endif

static fire_status_t new_slot(fire_p2p_t *t, int peer, int tag, void *memory,
                              size_t len, fire_req_t *req_p)
{
    if (t->nfree == 0)
        return FIRE_FAIL(FIRE_ERR_COMM, "rank %d has no request left", t->base.rank);
    if (len > INT_MAX)
        return FIRE_FAIL(FIRE_ERR_UNSUPPORTED, "a message of %zu bytes; limit is %d",
                         len, INT_MAX);
    *req_p = t->free[--t->nfree];
    *t->slot[*req_p] =
        (fire_p2p_slot_t){.peer = peer, .tag = tag, .memory = memory, .len = len};
    return FIRE_OK;
}

/* ---- messages ---- */

static bool p2p_reaches(fire_transport_t *tp, int peer, const void *memory)
{
    fire_p2p_t *t = fire_p2p_of(tp);

    return t->job.node_rank[peer] >= 0 && fire_share_find(&t->job, memory) != NULL;
}

/* Post the receive of the receipt before the note is sent, so that it always finds its
 * receive posted. The fence makes what was written to the memory visible to the
 * peer. */
static fire_status_t lend(fire_p2p_t *t, fire_p2p_slot_t *s, int first)
{
    const fire_share_t *share = fire_share_find(&t->job, s->memory);

    s->note    = (fire_p2p_note_t){(uint64_t)share->number,
                                   (uint64_t)((char *)s->memory - share->base), s->len};
    s->pending = 2;
    atomic_thread_fence(memory_order_seq_cst);
    FIRE_TRY(FIRE_MPI(
        t->job.mpi, irecv(t->receipts, s->peer, s->tag, NULL, 0, t->requests, first)));
    return FIRE_MPI(t->job.mpi, isend(t->data, s->peer, s->tag, &s->note,
                                      (int)sizeof(s->note), t->requests, first + 1));
}

static fire_status_t p2p_send(fire_transport_t *tp, int peer, int tag, void *memory,
                              size_t len, bool lent, fire_req_t *req_p)
{
    fire_p2p_t *t = fire_p2p_of(tp);
    int         first;

    FIRE_TRY(new_slot(t, peer, tag, memory, len, req_p));
    first = FIRE_P2P_REQUESTS * *req_p;
    if (lent) return lend(t, t->slot[*req_p], first);
    t->slot[*req_p]->pending = 1;
    return FIRE_MPI(t->job.mpi,
                    isend(t->data, peer, tag, memory, (int)len, t->requests, first));
}

static fire_status_t p2p_recv(fire_transport_t *tp, int peer, int tag, void *memory,
                              size_t len, fire_req_t *req_p)
{
    fire_p2p_t      *t = fire_p2p_of(tp);
    fire_p2p_slot_t *s;

    FIRE_TRY(new_slot(t, peer, tag, memory, len, req_p));
    s           = t->slot[*req_p];
    s->receives = true;
    s->lent     = memory == NULL;
    s->pending  = 1;
    return FIRE_MPI(t->job.mpi,
                    irecv(t->data, peer, tag, s->lent ? (void *)&s->note : memory,
                          s->lent ? (int)sizeof(s->note) : (int)len, t->requests,
                          FIRE_P2P_REQUESTS * *req_p));
}

/* The library's allreduce, non-blocking: one request of a slot. */
static fire_status_t p2p_allreduce(fire_transport_t *tp, float *data, size_t n,
                                   fire_req_t *req_p)
{
    fire_p2p_t *t = fire_p2p_of(tp);

    FIRE_TRY(new_slot(t, tp->rank, 0, data, 0, req_p));
    t->slot[*req_p]->pending = 1;
    return FIRE_MPI(t->job.mpi, iallreduce(t->library, FIRE_MPI_SUM_FLOAT, data, (int)n,
                                           t->requests, FIRE_P2P_REQUESTS * *req_p));
}

static fire_status_t p2p_allreduce_now(fire_transport_t *tp, float *data, size_t n)
{
    fire_p2p_t *t = fire_p2p_of(tp);

    return FIRE_MPI(t->job.mpi,
                    allreduce(t->library, FIRE_MPI_SUM_FLOAT, data, (int)n));
}

/* A note has arrived: find the sender's memory in this process. */
static fire_status_t find_lent(fire_p2p_t *t, fire_p2p_slot_t *s)
{
    const fire_share_t *share = fire_share_number(&t->job, (int)s->note.share);

    if (share == NULL || share->win == NULL)
        return FIRE_FAIL(FIRE_ERR_COMM,
                         "rank %d lends memory that rank %d does not know", s->peer,
                         t->base.rank);
    s->memory = share->peer[t->job.node_rank[s->peer]] + s->note.offset;
    s->len    = s->note.len;
    return FIRE_OK;
}

static fire_status_t p2p_test(fire_transport_t *tp, fire_req_t req,
                              fire_arrival_t *arrival_p)
{
    fire_p2p_slot_t *s = fire_p2p_of(tp)->slot[req];

    if (s->pending > 0) return FIRE_IN_PROGRESS;
    atomic_thread_fence(memory_order_seq_cst); /* see what a peer wrote to our memory */
    if (arrival_p != NULL) *arrival_p = (fire_arrival_t){s->memory, s->len};
    return FIRE_OK;
}

static void p2p_release(fire_transport_t *tp, fire_req_t req)
{
    fire_p2p_t       *t   = fire_p2p_of(tp);
    fire_p2p_slot_t  *s   = t->slot[req];
    const fire_mpi_t *mpi = t->job.mpi;

    for (int k = 0; k < FIRE_P2P_REQUESTS; k++) {
        int i = FIRE_P2P_REQUESTS * req + k;

        if (mpi->request_is_clear(t->requests, i)) continue;
        t->broken = true; /* the message was given up */
        if (s->receives || k == 0) mpi->cancel(t->requests, i);
        mpi->request_free(t->requests, i);
    }
    if (s->receives && s->lent && s->pending == 0) {
        atomic_thread_fence(memory_order_seq_cst);
        mpi->send(t->receipts, s->peer, s->tag, NULL, 0);
    }
    t->free[t->nfree++] = req;
}

/* ---- progress ---- */

static bool p2p_alive(fire_transport_t *tp, int peer, double within)
{
    return fire_control_alive(&fire_p2p_of(tp)->control, peer, within);
}

static void p2p_fail(fire_transport_t *tp, const char *cause)
{
    fire_p2p_t *t = fire_p2p_of(tp);

    if (!t->broken) fire_control_fail(&t->control, cause);
    t->broken = true;
}

static fire_status_t handle_control(fire_p2p_t *t, int peer)
{
    FIRE_TRY(fire_control_handle(&t->control, peer, t->requests,
                                 FIRE_P2P_REQUESTS * FIRE_P2P_CONTROL));
    if (t->control.failed_rank >= 0) t->broken = true;
    return FIRE_OK;
}

/* n requests have finished: their indices are in t->finished. */
static fire_status_t finish(fire_p2p_t *t, int n)
{
    for (int i = 0; i < n; i++) {
        fire_p2p_slot_t *s = t->slot[t->finished[i] / FIRE_P2P_REQUESTS];
        bool control       = t->finished[i] == FIRE_P2P_REQUESTS * FIRE_P2P_CONTROL;
        int  source, bytes;

        if (!control) s->pending--;
        if (!s->receives) continue;
        FIRE_TRY(FIRE_MPI(t->job.mpi, get_count(t->statuses, i, &source, &bytes)));
        if (control) {
            FIRE_TRY(handle_control(t, source));
            continue;
        }
        s->len = (size_t)bytes;
        if (s->lent) FIRE_TRY(find_lent(t, s));
    }
    return FIRE_OK;
}

static fire_status_t p2p_poll(fire_transport_t *tp)
{
    fire_p2p_t *t = fire_p2p_of(tp);
    int         n;

    if (t->control.failed_rank >= 0)
        return FIRE_FAIL(FIRE_ERR_PEER, "rank %d: %s", t->control.failed_rank,
                         t->control.received.cause);
#ifdef FIRE_SIMGRID
    if (simgrid_get_clock() == t->looked) return FIRE_OK;
    t->looked = simgrid_get_clock();
#endif
    FIRE_TRY(FIRE_MPI(t->job.mpi, testsome(t->requests, FIRE_P2P_REQUESTS * t->nslot,
                                           &n, t->finished, t->statuses)));
    return finish(t, n);
}

#ifdef FIRE_SIMGRID
/* SimGrid's clock stands still while a rank polls, and MPI_Testsome gets slower with
 * every message it has found: wait for one request at a time instead. */
static fire_status_t p2p_wait(fire_transport_t *tp)
{
    fire_p2p_t *t = fire_p2p_of(tp);

    FIRE_TRY(FIRE_MPI(t->job.mpi, waitany(t->requests, FIRE_P2P_REQUESTS * t->nslot,
                                          t->finished, t->statuses)));
    t->looked = simgrid_get_clock();
    return finish(t, 1);
}
#endif

/* ---- memory ---- */

#ifdef FIRE_SIMGRID
static fire_status_t p2p_inbox(fire_transport_t *tp, size_t bytes, void **memory_p)
{
    (void)tp;
    return fire_share_fold(bytes, memory_p);
}
#endif

static fire_status_t p2p_alloc(fire_transport_t *tp, size_t bytes, void **memory_p)
{
    return fire_share_alloc(&fire_p2p_of(tp)->job, bytes, memory_p);
}

/* Freeing a window is collective: with a rank gone it would wait for ever. */
static void p2p_free(fire_transport_t *tp, void *memory)
{
    if (!fire_p2p_of(tp)->broken) fire_share_free(&fire_p2p_of(tp)->job, memory);
}

const fire_transport_ops_t fire_p2p_ops = {
    .name          = "p2p",
    .close         = fire_p2p_close,
    .reserve       = fire_p2p_reserve,
    .reaches       = p2p_reaches,
    .send          = p2p_send,
    .recv          = p2p_recv,
    .allreduce     = p2p_allreduce,
    .allreduce_now = p2p_allreduce_now,
    .poll          = p2p_poll,
#ifdef FIRE_SIMGRID
    .wait  = p2p_wait,
    .inbox = p2p_inbox,
#endif
    .test    = p2p_test,
    .release = p2p_release,
    .alive   = p2p_alive,
    .fail    = p2p_fail,
    .alloc   = p2p_alloc,
    .dealloc = p2p_free,
};
