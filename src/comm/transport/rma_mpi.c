/* rma_mpi.c - the one-sided transport: messages go over edges (edge_mpi.h). Zero-copy
 * messages inside a node, and all other operations, are left to the two-sided transport
 * underneath. A request number tells whose it is: from OWN_REQS on they are ours. */
#include "base/alloc.h"
#include "base/log.h"
#include "comm/transport/cluster.h"
#include "comm/transport/edge_mpi.h"

enum { OWN_REQS = 1 << 24 };

typedef struct slot {
    fire_edge_message_t message;
    struct slot        *next_free;
    int                 index;
} slot_t;

typedef struct rma {
    fire_transport_t  base; /* first: see rma_of() */
    fire_transport_t *p2p;  /* owned */
    fire_edges_t      edges;
    slot_t          **slot, *free;
    int64_t           nslot, cap;
    int               reserved;
} rma_t;

static rma_t *rma_of(fire_transport_t *tp)
{
    return (rma_t *)tp; /* base comes first */
}

static fire_status_t rma_reserve(fire_transport_t *tp, int more)
{
    rma_t *t = rma_of(tp);

    FIRE_TRY(t->p2p->ops->reserve(t->p2p, more)); /* any may be zero-copy */
    FIRE_TRY(fire_grow(&t->slot, &t->cap, t->reserved + more, sizeof(*t->slot)));
    for (; t->nslot < t->reserved + more; t->nslot++) {
        slot_t *s;

        FIRE_TRY(FIRE_NEW(&s, 1));
        s->index          = (int)t->nslot;
        s->next_free      = t->free;
        t->free           = s;
        t->slot[t->nslot] = s;
    }
    t->reserved += more;
    return FIRE_OK;
}

static fire_status_t new_message(rma_t *t, const fire_edge_message_t *message,
                                 fire_req_t *req_p, fire_edge_message_t **message_p)
{
    slot_t *s = t->free;

    if (s == NULL)
        return FIRE_FAIL(FIRE_ERR_COMM, "rank %d has no message slot left",
                         t->base.rank);
    t->free    = s->next_free;
    s->message = *message;
    *req_p     = OWN_REQS + s->index;
    *message_p = &s->message;
    return FIRE_OK;
}

static fire_status_t rma_send(fire_transport_t *tp, int peer, int tag, void *memory,
                              size_t len, bool lent, fire_req_t *req_p)
{
    const fire_edge_message_t what = {
        .item.tag = tag, .peer = peer, .memory = memory, .len = len};
    rma_t               *t = rma_of(tp);
    fire_edge_message_t *p;

    if (lent) return t->p2p->ops->send(t->p2p, peer, tag, memory, len, lent, req_p);
    FIRE_TRY(new_message(t, &what, req_p, &p));
    return fire_edges_send(&t->edges, p);
}

static fire_status_t rma_recv(fire_transport_t *tp, int peer, int tag, void *memory,
                              size_t len, fire_req_t *req_p)
{
    const fire_edge_message_t what = {
        .item.tag = tag, .peer = peer, .memory = memory, .len = len};
    rma_t               *t = rma_of(tp);
    fire_edge_message_t *p;

    if (memory == NULL) return t->p2p->ops->recv(t->p2p, peer, tag, memory, len, req_p);
    FIRE_TRY(new_message(t, &what, req_p, &p));
    return fire_edges_recv(&t->edges, p);
}

static fire_status_t rma_poll(fire_transport_t *tp)
{
    rma_t *t = rma_of(tp);

    FIRE_TRY(t->p2p->ops->poll(t->p2p));
    return fire_edges_poll(&t->edges);
}

static fire_status_t rma_test(fire_transport_t *tp, fire_req_t req,
                              fire_arrival_t *arrival_p)
{
    rma_t               *t = rma_of(tp);
    fire_edge_message_t *p;

    if (req < OWN_REQS) return t->p2p->ops->test(t->p2p, req, arrival_p);
    p = &t->slot[req - OWN_REQS]->message;
    if (!p->done) return FIRE_IN_PROGRESS;
    if (arrival_p != NULL) *arrival_p = (fire_arrival_t){p->memory, p->len};
    return FIRE_OK;
}

/* A message that is given up keeps its slot: its peer may still send to it. */
static void rma_release(fire_transport_t *tp, fire_req_t req)
{
    rma_t  *t = rma_of(tp);
    slot_t *s;

    if (req < OWN_REQS) {
        t->p2p->ops->release(t->p2p, req);
        return;
    }
    s = t->slot[req - OWN_REQS];
    if (s->message.done) {
        s->next_free = t->free;
        t->free      = s;
    } else {
        fire_edges_drop(&t->edges, &s->message);
    }
}

/* ---- left to the transport underneath ---- */

static bool rma_reaches(fire_transport_t *tp, int peer, const void *memory)
{
    return rma_of(tp)->p2p->ops->reaches(rma_of(tp)->p2p, peer, memory);
}

static bool rma_alive(fire_transport_t *tp, int peer, double within)
{
    return rma_of(tp)->p2p->ops->alive(rma_of(tp)->p2p, peer, within);
}

static void rma_fail(fire_transport_t *tp, const char *cause)
{
    rma_of(tp)->p2p->ops->fail(rma_of(tp)->p2p, cause);
}

static fire_status_t rma_alloc(fire_transport_t *tp, size_t bytes, void **memory_p)
{
    return rma_of(tp)->p2p->ops->alloc(rma_of(tp)->p2p, bytes, memory_p);
}

static void rma_free(fire_transport_t *tp, void *memory)
{
    rma_of(tp)->p2p->ops->dealloc(rma_of(tp)->p2p, memory);
}

static fire_status_t rma_allreduce(fire_transport_t *tp, float *data, size_t n,
                                   fire_req_t *req_p)
{
    fire_transport_t *p2p = rma_of(tp)->p2p;

    return p2p->ops->allreduce(p2p, data, n, req_p);
}

static fire_status_t rma_allreduce_now(fire_transport_t *tp, float *data, size_t n)
{
    fire_transport_t *p2p = rma_of(tp)->p2p;

    return p2p->ops->allreduce_now(p2p, data, n);
}

/* ---- opening and closing ---- */

static void rma_close(fire_transport_t *tp)
{
    rma_t *t = rma_of(tp);

    fire_edges_close(&t->edges, fire_p2p_is_broken(t->p2p));
    t->p2p->ops->close(t->p2p);
    for (int64_t i = 0; i < t->nslot; i++)
        fire_free(t->slot[i]);
    fire_free(t->slot);
    fire_free(t);
}

static const fire_transport_ops_t rma_ops = {
    .name          = "rma",
    .close         = rma_close,
    .reserve       = rma_reserve,
    .reaches       = rma_reaches,
    .send          = rma_send,
    .recv          = rma_recv,
    .allreduce     = rma_allreduce,
    .allreduce_now = rma_allreduce_now,
    .poll          = rma_poll,
    .test          = rma_test,
    .release       = rma_release,
    .alive         = rma_alive,
    .fail          = rma_fail,
    .alloc         = rma_alloc,
    .dealloc       = rma_free,
};

fire_status_t fire_rma_open(fire_transport_t **tp_p)
{
    fire_transport_t *p2p;
    rma_t            *t;
    fire_status_t     st;

    /* Open MPI's windows over TCP do not work with MPI_THREAD_MULTIPLE. */
    FIRE_TRY(fire_p2p_open_for(FIRE_MPI_SERIALIZED, &p2p));
    st = FIRE_NEW(&t, 1);
    if (st < 0) {
        p2p->ops->close(p2p);
        return st;
    }
    t->base     = *p2p;
    t->base.ops = &rma_ops;
    t->p2p      = p2p;
    if (fire_edges_open(fire_p2p_job(p2p), &t->edges) == FIRE_OK) {
        *tp_p = &t->base;
        return FIRE_OK;
    }
    if (p2p->rank == 0)
        FIRE_LOG(WARNING,
                 "no one-sided windows here, so messages will be two-sided: %s",
                 fire_last_error());
    fire_free(t);
    *tp_p = p2p;
    return FIRE_OK;
}
