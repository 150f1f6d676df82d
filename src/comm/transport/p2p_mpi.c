/* p2p_mpi.c - two-sided MPI. Inside a node a message whose bytes lie in shared
 * memory is lent: only a note of where they are travels, and a receipt back.
 * The communicators are our own duplicates with MPI_ERRORS_RETURN, so that a
 * fault comes back as a status instead of ending the process. */
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "comm/transport/cluster.h"
#include "comm/transport/control_mpi.h"

enum { PER_SLOT = 2, CONTROL = 0 /* the slot of control messages */ };

#ifdef SMPI_H /* where messages under way share the link instead of following */
#    include <simgrid/engine.h>
enum { WINDOW = 2 };
#else
enum { WINDOW = 8 };
#endif

typedef struct note { /* travels instead of a lent message */
    uint64_t share, offset, len;
} note_t;

typedef struct slot {
    int    peer, tag, pending; /* pending: MPI requests not finished */
    bool   receives, lent;
    void  *memory;
    size_t len;
    note_t note;
} slot_t;

typedef struct block { /* slots must not move while MPI fills their notes */
    struct block *next;
    slot_t        slot[];
} block_t;

typedef struct p2p {
    fire_transport_t base;
    fire_job_t       job;
    fire_control_t   control;
    MPI_Comm         data, receipts, library;
    block_t         *blocks;
    slot_t         **slot;    /* nslot; slot k has the requests PER_SLOT * k ... */
    MPI_Request     *request; /* PER_SLOT * nslot, and so are the next two */
    MPI_Status      *status;
    int             *finished;
    int             *free; /* slot numbers */
    int              nslot, nfree, reserved;
    bool             broken;
#ifdef SMPI_H
    double looked; /* when messages were last asked for */
#endif
} p2p_t;

static p2p_t *p2p_of(fire_transport_t *tp)
{
    return (p2p_t *)tp; /* base comes first */
}

/* ---- slots ---- */

static fire_status_t regrow(void *array_p, int64_t have, int64_t want, size_t size)
{
    return fire_grow(array_p, &have, want, size);
}

static fire_status_t add_slots(p2p_t *t, int n)
{
    int      old = t->nslot, want = old + n;
    block_t *b;

    FIRE_TRY(regrow(&t->slot, old, want, sizeof(*t->slot)));
    FIRE_TRY(regrow(&t->request, PER_SLOT * old, PER_SLOT * want, sizeof(*t->request)));
    FIRE_TRY(regrow(&t->status, PER_SLOT * old, PER_SLOT * want, sizeof(*t->status)));
    FIRE_TRY(regrow(&t->finished, PER_SLOT * old, PER_SLOT * want, sizeof(int)));
    FIRE_TRY(regrow(&t->free, old, want, sizeof(*t->free)));
    FIRE_TRY(fire_alloc(1, sizeof(*b) + (size_t)n * sizeof(b->slot[0]), "message slots",
                        (void **)&b));
    b->next   = t->blocks;
    t->blocks = b;
    for (int i = 0; i < PER_SLOT * n; i++)
        t->request[PER_SLOT * old + i] = MPI_REQUEST_NULL;
    for (int i = 0; i < n; i++) {
        t->slot[old + i]      = &b->slot[i];
        t->free[t->nfree + i] = want - 1 - i;
    }
    t->nfree += n;
    t->nslot = want;
    return FIRE_OK;
}

static fire_status_t p2p_reserve(fire_transport_t *tp, int more)
{
    p2p_t *t = p2p_of(tp);

    if (t->reserved + more > t->nslot)
        FIRE_TRY(add_slots(t, t->reserved + more - t->nslot));
    t->reserved += more;
    return FIRE_OK;
}

static fire_status_t new_slot(p2p_t *t, int peer, int tag, void *memory, size_t len,
                              fire_req_t *req_p)
{
    if (t->nfree == 0)
        return FIRE_FAIL(FIRE_ERR_COMM, "rank %d has no request left", t->base.rank);
    if (len > INT_MAX)
        return FIRE_FAIL(FIRE_ERR_UNSUPPORTED, "a message of %zu bytes; limit is %d",
                         len, INT_MAX);
    *req_p           = t->free[--t->nfree];
    *t->slot[*req_p] = (slot_t){.peer = peer, .tag = tag, .memory = memory, .len = len};
    return FIRE_OK;
}

/* ---- messages ---- */

static bool p2p_reaches(fire_transport_t *tp, int peer, const void *memory)
{
    p2p_t *t = p2p_of(tp);

    return t->job.node_rank[peer] >= 0 && fire_share_find(&t->job, memory) != NULL;
}

/* The receipt is expected before the note goes out, so that the receiver can
 * always hand it over at once. */
static fire_status_t lend(p2p_t *t, slot_t *s, MPI_Request *request)
{
    const fire_share_t *share = fire_share_find(&t->job, s->memory);

    s->note    = (note_t){(uint64_t)share->number,
                          (uint64_t)((char *)s->memory - share->base), s->len};
    s->pending = 2;
    atomic_thread_fence(memory_order_seq_cst);
    FIRE_TRY(FIRE_MPI(
        MPI_Irecv(NULL, 0, MPI_BYTE, s->peer, s->tag, t->receipts, &request[0])));
    return FIRE_MPI(MPI_Isend(&s->note, (int)sizeof(s->note), MPI_BYTE, s->peer, s->tag,
                              t->data, &request[1]));
}

static fire_status_t p2p_send(fire_transport_t *tp, int peer, int tag, void *memory,
                              size_t len, bool lent, fire_req_t *req_p)
{
    p2p_t       *t = p2p_of(tp);
    MPI_Request *request;

    FIRE_TRY(new_slot(t, peer, tag, memory, len, req_p));
    request = &t->request[PER_SLOT * *req_p];
    if (lent) return lend(t, t->slot[*req_p], request);
    t->slot[*req_p]->pending = 1;
    return FIRE_MPI(MPI_Isend(memory, (int)len, MPI_BYTE, peer, tag, t->data, request));
}

static fire_status_t p2p_recv(fire_transport_t *tp, int peer, int tag, void *memory,
                              size_t len, fire_req_t *req_p)
{
    p2p_t  *t = p2p_of(tp);
    slot_t *s;

    FIRE_TRY(new_slot(t, peer, tag, memory, len, req_p));
    s           = t->slot[*req_p];
    s->receives = true;
    s->lent     = memory == NULL;
    s->pending  = 1;
    return FIRE_MPI(MPI_Irecv(s->lent ? (void *)&s->note : memory,
                              s->lent ? (int)sizeof(s->note) : (int)len, MPI_BYTE, peer,
                              tag, t->data, &t->request[PER_SLOT * *req_p]));
}

static fire_status_t p2p_allreduce(fire_transport_t *tp, float *data, size_t n,
                                   fire_req_t *req_p)
{
    p2p_t *t = p2p_of(tp);

    FIRE_TRY(new_slot(t, tp->rank, 0, data, 0, req_p));
    t->slot[*req_p]->pending = 1;
    return FIRE_MPI(MPI_Iallreduce(MPI_IN_PLACE, data, (int)n, MPI_FLOAT, MPI_SUM,
                                   t->library, &t->request[PER_SLOT * *req_p]));
}

static fire_status_t p2p_allreduce_now(fire_transport_t *tp, float *data, size_t n)
{
    return FIRE_MPI(MPI_Allreduce(MPI_IN_PLACE, data, (int)n, MPI_FLOAT, MPI_SUM,
                                  p2p_of(tp)->library));
}

/* A lent message has arrived when its note has. */
static fire_status_t find_lent(p2p_t *t, slot_t *s)
{
    const fire_share_t *share = fire_share_number(&t->job, (int)s->note.share);

    if (share == NULL || share->win == MPI_WIN_NULL)
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
    slot_t *s = p2p_of(tp)->slot[req];

    if (s->pending > 0) return FIRE_IN_PROGRESS;
    atomic_thread_fence(memory_order_seq_cst); /* what a peer did in our memory */
    if (arrival_p != NULL) *arrival_p = (fire_arrival_t){s->memory, s->len};
    return FIRE_OK;
}

static void p2p_release(fire_transport_t *tp, fire_req_t req)
{
    p2p_t  *t = p2p_of(tp);
    slot_t *s = t->slot[req];

    for (int k = 0; k < PER_SLOT; k++) {
        MPI_Request *r = &t->request[PER_SLOT * req + k];

        if (*r == MPI_REQUEST_NULL) continue;
        t->broken = true; /* it was given up */
        if (s->receives || k == 0) MPI_Cancel(r);
        MPI_Request_free(r);
    }
    if (s->receives && s->lent && s->pending == 0) {
        atomic_thread_fence(memory_order_seq_cst);
        MPI_Send(NULL, 0, MPI_BYTE, s->peer, s->tag, t->receipts);
    }
    t->free[t->nfree++] = req;
}

/* ---- moving ---- */

static bool p2p_alive(fire_transport_t *tp, int peer, double within)
{
    return fire_control_alive(&p2p_of(tp)->control, peer, within);
}

static void p2p_fail(fire_transport_t *tp, const char *cause)
{
    p2p_t *t = p2p_of(tp);

    if (!t->broken) fire_control_fail(&t->control, cause);
    t->broken = true;
}

static fire_status_t hear(p2p_t *t, int peer)
{
    FIRE_TRY(fire_control_hear(&t->control, peer, &t->request[PER_SLOT * CONTROL]));
    if (t->control.failed_rank >= 0) t->broken = true;
    return FIRE_OK;
}

static fire_status_t finish(p2p_t *t, int n)
{
    for (int i = 0; i < n; i++) {
        slot_t *s = t->slot[t->finished[i] / PER_SLOT];
        int     bytes;

        if (t->finished[i] == PER_SLOT * CONTROL) {
            FIRE_TRY(hear(t, t->status[i].MPI_SOURCE));
            continue;
        }
        s->pending--;
        if (!s->receives) continue;
        FIRE_TRY(FIRE_MPI(MPI_Get_count(&t->status[i], MPI_BYTE, &bytes)));
        s->len = (size_t)bytes;
        if (s->lent) FIRE_TRY(find_lent(t, s));
    }
    return FIRE_OK;
}

static fire_status_t p2p_poll(fire_transport_t *tp)
{
    p2p_t *t = p2p_of(tp);
    int    n;

    if (t->control.failed_rank >= 0)
        return FIRE_FAIL(FIRE_ERR_PEER, "rank %d: %s", t->control.failed_rank,
                         t->control.heard.cause);
#ifdef SMPI_H
    if (simgrid_get_clock() == t->looked) return FIRE_OK;
    t->looked = simgrid_get_clock();
#endif
    FIRE_TRY(FIRE_MPI(
        MPI_Testsome(PER_SLOT * t->nslot, t->request, &n, t->finished, t->status)));
    return finish(t, n);
}

#ifdef SMPI_H
/* SimGrid's clock stands still while a rank polls, and a message that a test finds stays
 * in lists that every later one has to pass: what is there is waited for, one by one. */
static fire_status_t p2p_wait(fire_transport_t *tp)
{
    p2p_t *t = p2p_of(tp);

    FIRE_TRY(
        FIRE_MPI(MPI_Waitany(PER_SLOT * t->nslot, t->request, t->finished, t->status)));
    t->looked = simgrid_get_clock();
    return finish(t, 1);
}
#endif

/* ---- opening and closing ---- */

#ifdef SMPI_H
static fire_status_t p2p_inbox(fire_transport_t *tp, size_t bytes, void **memory_p)
{
    (void)tp;
    return fire_share_fold(bytes, memory_p);
}
#endif

static fire_status_t p2p_alloc(fire_transport_t *tp, size_t bytes, void **memory_p)
{
    return fire_share_alloc(&p2p_of(tp)->job, bytes, memory_p);
}

/* Freeing is done by all together; it waits for those that are gone. */
static void p2p_free(fire_transport_t *tp, void *memory)
{
    if (!p2p_of(tp)->broken) fire_share_free(&p2p_of(tp)->job, memory);
}

static void p2p_close(fire_transport_t *tp)
{
    p2p_t    *t      = p2p_of(tp);
    MPI_Comm *comm[] = {&t->data, &t->receipts, &t->library};
    block_t  *next;

    if (!t->broken && t->nslot > 0 && t->request[CONTROL] != MPI_REQUEST_NULL) {
        MPI_Cancel(&t->request[CONTROL]);
        MPI_Wait(&t->request[CONTROL], MPI_STATUS_IGNORE);
    }
    for (int i = 0; i < 3; i++)
        if (*comm[i] != MPI_COMM_NULL && !t->broken) MPI_Comm_free(comm[i]);
    fire_control_close(&t->control, t->broken);
    fire_job_close(&t->job, t->broken);
    for (block_t *b = t->blocks; b != NULL; b = next) {
        next = b->next;
        fire_free(b);
    }
    fire_free(t->slot);
    fire_free(t->request);
    fire_free(t->status);
    fire_free(t->finished);
    fire_free(t->free);
    fire_free(t);
}

static const fire_transport_ops_t p2p_ops = {
    .name          = "p2p",
    .close         = p2p_close,
    .reserve       = p2p_reserve,
    .reaches       = p2p_reaches,
    .send          = p2p_send,
    .recv          = p2p_recv,
    .allreduce     = p2p_allreduce,
    .allreduce_now = p2p_allreduce_now,
    .poll          = p2p_poll,
#ifdef SMPI_H
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

static fire_status_t set_up(p2p_t *t, int threads)
{
    int *most, found;

    FIRE_TRY(fire_job_open(&t->job, threads));
    FIRE_TRY(fire_job_dup(&t->job, &t->data));
    FIRE_TRY(fire_job_dup(&t->job, &t->receipts));
    FIRE_TRY(fire_job_dup(&t->job, &t->library));
    FIRE_TRY(fire_control_open(&t->job, &t->control));
    FIRE_TRY(FIRE_MPI(MPI_Comm_get_attr(t->data, MPI_TAG_UB, &most, &found)));
    t->base.rank    = t->job.rank;
    t->base.size    = t->job.size;
    t->base.node    = t->job.node_of;
    t->base.max_tag = found ? *most : SHRT_MAX;
    t->base.window  = WINDOW;
    FIRE_TRY(add_slots(t, 1));
    t->nfree--; /* slot CONTROL stays taken */
    t->reserved                = 1;
    t->slot[CONTROL]->receives = true;
    return fire_control_listen(&t->control, &t->request[PER_SLOT * CONTROL]);
}

fire_status_t fire_p2p_open_for(int threads, fire_transport_t **tp_p)
{
    p2p_t        *t;
    fire_status_t st;

    FIRE_TRY(FIRE_NEW(&t, 1));
    t->base.ops = &p2p_ops;
    t->data = t->receipts = t->library = t->control.comm = MPI_COMM_NULL;

    st = set_up(t, threads);
    if (st < 0) {
        t->broken = true;
        p2p_close(&t->base);
        return st;
    }
    *tp_p = &t->base;
    return FIRE_OK;
}

fire_status_t fire_p2p_open(fire_transport_t **tp_p)
{
    return fire_p2p_open_for(MPI_THREAD_MULTIPLE, tp_p);
}

MPI_Comm fire_p2p_comm(const fire_transport_t *tp)
{
    return ((const p2p_t *)tp)->job.world;
}

bool fire_p2p_is_broken(const fire_transport_t *tp)
{
    return ((const p2p_t *)tp)->broken;
}
