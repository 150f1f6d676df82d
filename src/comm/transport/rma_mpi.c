/* rma_mpi.c - one-sided MPI-3: write and notify, with credits (CaffeGPI's way).
 *
 * Each rank has a window with one edge per peer. For a message from A to B:
 *   B posts a receive     -> writes a ticket (its tag) into A's edge
 *   A has a matching send -> writes the bytes into the ring of B's edge, then the
 *                            edge's new tail: the notification is the pointer
 *   B takes the bytes out -> writes its new head into A's edge: A's credit
 * As nothing is written without a ticket, no message blocks another one's way, and
 * no memory beyond the rings is needed. Messages that are lent inside a node, and
 * everything else, are left to the two-sided transport underneath. */
#include <stdatomic.h>
#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "comm/transport/cluster.h"
#include "comm/transport/job_mpi.h"
#include "comm/transport/queue.h"

enum {
    TICKETS    = 512,
    RING_LEAST = 64 << 10,
    RING_MOST  = 1 << 20,
    RINGS_ALL  = 64 << 20, /* bytes of all rings of a rank, roughly */
    OWN_REQS   = 1 << 24   /* request numbers from here on are ours */
};

/* In the window; written by the peer. */
typedef struct edge {
    _Atomic uint64_t tail;            /* bytes it has put into our ring */
    _Atomic uint64_t credit;          /* bytes it has taken out of its ring */
    _Atomic uint64_t ticket[TICKETS]; /* (number + 1) << 32 | tag */
    char             ring[];
} edge_t;

typedef struct head { /* before each piece of a message in a ring */
    uint64_t ticket, total, len;
} head_t;

typedef struct slot {
    fire_item_t  item;
    struct slot *next_free;
    int          index, peer;
    bool         done;
    char        *memory;
    size_t       len, moved;
    uint64_t     ticket;
} slot_t;

typedef struct side { /* this rank's side of an edge */
    edge_t      *edge;
    fire_queue_t waiting, sending; /* sends without and with a ticket */
    fire_queue_t unasked;          /* receives for which no ticket was left */
    uint64_t     taken, written;   /* tickets read, bytes put */
    uint64_t     asked, read;      /* tickets given, bytes taken */
    uint64_t     open[TICKETS];    /* tickets that no send has met, in order */
    int          nopen;
    slot_t      *asking[TICKETS]; /* receives by ticket */
} side_t;

typedef struct rma {
    fire_transport_t  base;
    fire_transport_t *p2p;
    MPI_Comm          comm;
    MPI_Win           win;
    size_t            ring, stride; /* bytes of a ring, of an edge */
    side_t           *side;         /* by peer */
    slot_t          **slot, *free;
    int64_t           nslot, cap;
    int               reserved;
} rma_t;

static rma_t *rma_of(fire_transport_t *tp)
{
    return (rma_t *)tp; /* base comes first */
}

/* ---- slots ---- */

static fire_status_t rma_reserve(fire_transport_t *tp, int more)
{
    rma_t *t = rma_of(tp);

    FIRE_TRY(t->p2p->ops->reserve(t->p2p, more)); /* any of them may be lent */
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

static slot_t *new_slot(rma_t *t, int peer, int tag, void *memory, size_t len)
{
    slot_t *s = t->free;

    if (s == NULL) return NULL;
    t->free = s->next_free;
    *s      = (slot_t){
             .item.tag = tag, .index = s->index, .peer = peer, .memory = memory, .len = len};
    return s;
}

static fire_status_t no_slot(const rma_t *t)
{
    return FIRE_FAIL(FIRE_ERR_COMM, "rank %d has no message slot left", t->base.rank);
}

/* ---- writing to a peer ---- */

/* Where something of our edge at the peer lies in its window. */
static MPI_Aint at_peer(const rma_t *t, size_t offset)
{
    return (MPI_Aint)((size_t)t->base.rank * t->stride + offset);
}

static fire_status_t put(rma_t *t, int peer, size_t offset, const void *data, size_t n)
{
    return FIRE_MPI(MPI_Put(data, (int)n, MPI_BYTE, peer, at_peer(t, offset), (int)n,
                            MPI_BYTE, t->win));
}

/* One word, whole or not at all; then it is there. */
static fire_status_t put_word(rma_t *t, int peer, size_t offset, uint64_t word)
{
    FIRE_TRY(FIRE_MPI(MPI_Accumulate(&word, 1, MPI_UINT64_T, peer, at_peer(t, offset),
                                     1, MPI_UINT64_T, MPI_REPLACE, t->win)));
    return FIRE_MPI(MPI_Win_flush(peer, t->win));
}

/* Bytes into the peer's ring, around its end if need be. */
static fire_status_t put_ring(rma_t *t, int peer, uint64_t at, const void *data,
                              size_t n)
{
    size_t from = at % t->ring, first = n < t->ring - from ? n : t->ring - from;

    FIRE_TRY(put(t, peer, offsetof(edge_t, ring) + from, data, first));
    if (first == n) return FIRE_OK;
    return put(t, peer, offsetof(edge_t, ring), (const char *)data + first, n - first);
}

/* Room in the ring for one more piece with at least a byte (or an empty one). */
static size_t room(const rma_t *t, const side_t *side)
{
    size_t used = side->written - atomic_load(&side->edge->credit);

    return t->ring - used > sizeof(head_t) ? t->ring - used - sizeof(head_t) : 0;
}

static uint64_t padded(uint64_t n)
{
    return (n + 7) / 8 * 8;
}

/* As many pieces as the credit allows, then one notification for all. */
static fire_status_t push(rma_t *t, int peer)
{
    side_t  *side  = &t->side[peer];
    uint64_t start = side->written;

    while (side->sending.first != NULL && room(t, side) > 0) {
        slot_t *s    = (slot_t *)side->sending.first;
        size_t  left = s->len - s->moved, most = room(t, side) / 8 * 8;
        head_t  head = {s->ticket, s->len, left < most ? left : most};

        FIRE_TRY(put_ring(t, peer, side->written, &head, sizeof(head)));
        FIRE_TRY(put_ring(t, peer, side->written + sizeof(head), s->memory + s->moved,
                          head.len));
        FIRE_TRY(FIRE_MPI(MPI_Win_flush(peer, t->win)));
        side->written += sizeof(head) + padded(head.len);
        s->moved += head.len;
        if (s->moved < s->len) continue;
        s->done = true;
        fire_queue_cut(&side->sending, &side->sending.first);
    }
    if (side->written == start) return FIRE_OK;
    return put_word(t, peer, offsetof(edge_t, tail), side->written);
}

/* ---- tickets ---- */

static int tag_of(uint64_t ticket)
{
    return (int)(uint32_t)ticket;
}

static uint64_t number_of(uint64_t ticket)
{
    return (uint32_t)(ticket >> 32) - 1u;
}

/* A send has met its ticket. */
static void join(side_t *side, slot_t *send, uint64_t ticket)
{
    send->ticket = number_of(ticket);
    fire_queue_add(&side->sending, send);
}

static void take_tickets(side_t *side)
{
    for (;;) {
        uint64_t ticket = atomic_load(&side->edge->ticket[side->taken % TICKETS]);
        slot_t  *send;

        if ((uint32_t)(ticket >> 32) != (uint32_t)(side->taken + 1)) return;
        side->taken++;
        send = fire_queue_take(&side->waiting, tag_of(ticket));
        if (send != NULL)
            join(side, send, ticket);
        else
            side->open[side->nopen++] = ticket;
    }
}

/* Give tickets to receives, as long as there are any. */
static fire_status_t ask(rma_t *t, int peer)
{
    side_t *side = &t->side[peer];

    while (side->unasked.first != NULL && side->asking[side->asked % TICKETS] == NULL) {
        slot_t  *receive = (slot_t *)side->unasked.first;
        size_t   k       = side->asked % TICKETS;
        uint64_t ticket  = (side->asked + 1) << 32 | (uint32_t)receive->item.tag;

        fire_queue_cut(&side->unasked, &side->unasked.first);
        side->asking[k] = receive;
        receive->ticket = side->asked++;
        FIRE_TRY(
            put_word(t, peer, offsetof(edge_t, ticket) + k * sizeof(ticket), ticket));
    }
    return FIRE_OK;
}

/* ---- reading what peers wrote ---- */

static void get_ring(const rma_t *t, const side_t *side, uint64_t at, void *data,
                     size_t n)
{
    size_t from = at % t->ring, first = n < t->ring - from ? n : t->ring - from;

    memcpy(data, side->edge->ring + from, first);
    memcpy((char *)data + first, side->edge->ring, n - first);
}

/* One piece. A receive that was given up has no length and swallows it. */
static void get_piece(const rma_t *t, side_t *side, const head_t *head)
{
    slot_t *s    = side->asking[head->ticket % TICKETS];
    size_t  keep = s->moved < s->len ? s->len - s->moved : 0;

    if (keep > head->len) keep = head->len;
    get_ring(t, side, side->read + sizeof(*head), s->memory + s->moved, keep);
    side->read += sizeof(*head) + padded(head->len);
    s->moved += head->len;
    if (s->moved < head->total) return;
    s->len                               = head->total;
    s->done                              = true;
    side->asking[head->ticket % TICKETS] = NULL;
}

static fire_status_t pull(rma_t *t, int peer)
{
    side_t  *side  = &t->side[peer];
    uint64_t start = side->read, tail = atomic_load(&side->edge->tail);

    while (side->read < tail) {
        head_t head;

        get_ring(t, side, side->read, &head, sizeof(head));
        get_piece(t, side, &head);
    }
    if (side->read == start) return FIRE_OK;
    FIRE_TRY(ask(t, peer));
    return put_word(t, peer, offsetof(edge_t, credit), side->read);
}

static fire_status_t rma_poll(fire_transport_t *tp)
{
    rma_t *t = rma_of(tp);

    FIRE_TRY(t->p2p->ops->poll(t->p2p));
    FIRE_TRY(FIRE_MPI(MPI_Win_sync(t->win)));
    for (int r = 0; r < tp->size; r++) {
        if (r == tp->rank) continue;
        take_tickets(&t->side[r]);
        FIRE_TRY(push(t, r));
        FIRE_TRY(pull(t, r));
    }
    return FIRE_OK;
}

/* ---- requests ---- */

static fire_status_t rma_send(fire_transport_t *tp, int peer, int tag, void *memory,
                              size_t len, bool lent, fire_req_t *req_p)
{
    rma_t  *t    = rma_of(tp);
    side_t *side = &t->side[peer];
    slot_t *s;

    if (lent) return t->p2p->ops->send(t->p2p, peer, tag, memory, len, lent, req_p);
    s = new_slot(t, peer, tag, memory, len);
    if (s == NULL) return no_slot(t);
    *req_p = OWN_REQS + s->index;
    for (int k = 0; k < side->nopen; k++)
        if (tag_of(side->open[k]) == tag) {
            join(side, s, side->open[k]);
            memmove(&side->open[k], &side->open[k + 1],
                    (size_t)(--side->nopen - k) * sizeof(side->open[0]));
            return FIRE_OK;
        }
    fire_queue_add(&side->waiting, s);
    return FIRE_OK;
}

static fire_status_t rma_recv(fire_transport_t *tp, int peer, int tag, void *memory,
                              size_t len, fire_req_t *req_p)
{
    rma_t  *t = rma_of(tp);
    slot_t *s;

    if (memory == NULL) return t->p2p->ops->recv(t->p2p, peer, tag, memory, len, req_p);
    s = new_slot(t, peer, tag, memory, len);
    if (s == NULL) return no_slot(t);
    *req_p = OWN_REQS + s->index;
    fire_queue_add(&t->side[peer].unasked, s);
    return ask(t, peer);
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

static fire_status_t rma_test(fire_transport_t *tp, fire_req_t req,
                              fire_arrival_t *arrival_p)
{
    rma_t  *t = rma_of(tp);
    slot_t *s;

    if (req < OWN_REQS) return t->p2p->ops->test(t->p2p, req, arrival_p);
    s = t->slot[req - OWN_REQS];
    if (!s->done) return FIRE_IN_PROGRESS;
    if (arrival_p != NULL) *arrival_p = (fire_arrival_t){s->memory, s->len};
    return FIRE_OK;
}

static void rma_release(fire_transport_t *tp, fire_req_t req)
{
    rma_t  *t = rma_of(tp);
    slot_t *s;

    if (req < OWN_REQS) {
        t->p2p->ops->release(t->p2p, req);
        return;
    }
    s = t->slot[req - OWN_REQS];
    if (!s->done) { /* given up: then so is the transport */
        fire_queue_drop(&t->side[s->peer].waiting, s);
        fire_queue_drop(&t->side[s->peer].sending, s);
        fire_queue_drop(&t->side[s->peer].unasked, s);
        s->len = 0;
        return;
    }
    s->next_free = t->free;
    t->free      = s;
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

/* ---- opening and closing ---- */

static void rma_close(fire_transport_t *tp)
{
    rma_t *t = rma_of(tp);

    if (t->win != MPI_WIN_NULL && !fire_p2p_is_broken(t->p2p)) {
        MPI_Win_unlock_all(t->win);
        MPI_Win_free(&t->win);
    }
    t->p2p->ops->close(t->p2p);
    for (int64_t i = 0; i < t->nslot; i++)
        fire_free(t->slot[i]);
    fire_free(t->slot);
    fire_free(t->side);
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

static fire_status_t open_window(rma_t *t)
{
    size_t n = (size_t)t->base.size, each = RINGS_ALL / n / 64 * 64;
    char  *memory;

    t->ring   = each < RING_LEAST ? RING_LEAST : each > RING_MOST ? RING_MOST : each;
    t->stride = offsetof(edge_t, ring) + t->ring;
    FIRE_TRY(FIRE_NEW(&t->side, n));
    FIRE_TRY(FIRE_MPI(MPI_Win_allocate((MPI_Aint)(t->stride * n), 1, MPI_INFO_NULL,
                                       fire_p2p_comm(t->p2p), &memory, &t->win)));
    memset(memory, 0, t->stride * n);
    for (size_t r = 0; r < n; r++) {
        side_t *side = &t->side[r];

        side->edge = (edge_t *)(memory + r * t->stride);
        fire_queue_init(&side->waiting);
        fire_queue_init(&side->sending);
        fire_queue_init(&side->unasked);
    }
    return FIRE_MPI(MPI_Win_lock_all(0, t->win));
}

/* One-sided messages for all ranks, or for none. */
static fire_status_t agree_on_window(rma_t *t, fire_status_t mine)
{
    int ok = mine == FIRE_OK;

    FIRE_TRY(FIRE_MPI(
        MPI_Allreduce(MPI_IN_PLACE, &ok, 1, MPI_INT, MPI_MIN, fire_p2p_comm(t->p2p))));
    if (ok) return FIRE_OK;
    if (t->base.rank == 0)
        FIRE_LOG(WARNING,
                 "no one-sided windows here, so messages will be two-sided: %s",
                 mine < 0 ? fire_last_error() : "another rank has none");
    return FIRE_FAIL(FIRE_ERR_UNSUPPORTED, "one-sided messages are not available");
}

fire_status_t fire_rma_open(fire_transport_t **tp_p)
{
    fire_transport_t *p2p;
    rma_t            *t;
    fire_status_t     st;

    /* Open MPI's windows over TCP want no concurrent threads. */
    FIRE_TRY(fire_p2p_open_for(MPI_THREAD_SERIALIZED, &p2p));
    st = FIRE_NEW(&t, 1);
    if (st < 0) {
        p2p->ops->close(p2p);
        return st;
    }
    t->base     = *p2p;
    t->base.ops = &rma_ops;
    t->p2p      = p2p;
    t->win      = MPI_WIN_NULL;
    if (agree_on_window(t, open_window(t)) == FIRE_OK) {
        *tp_p = &t->base;
    } else {
        fire_free(t->side);
        fire_free(t);
        *tp_p = p2p;
    }
    return FIRE_OK;
}
