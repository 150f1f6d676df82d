#include "comm/transport/edge_mpi.h"

#include <stdatomic.h>
#include <string.h>

#include "base/alloc.h"

enum {
    TICKETS    = 512,
    RING_LEAST = 64 << 10,
    RING_MOST  = 1 << 20,
    RINGS_ALL  = 64 << 20 /* bytes of all rings of a rank, roughly */
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

struct fire_side { /* this rank's side of an edge */
    edge_t        *edge;
    fire_queue_t   waiting, sending; /* sends without and with a ticket */
    fire_queue_t   unasked;          /* receives for which no ticket was left */
    uint64_t       taken, written;   /* tickets read, bytes put */
    uint64_t       asked, read;      /* tickets given, bytes taken */
    uint64_t       open[TICKETS];    /* tickets that no send has met, in order */
    int            nopen;
    fire_parcel_t *asking[TICKETS]; /* receives by ticket */
};

/* ---- writing to a peer ---- */

/* Where something of our edge at the peer lies in its window. */
static MPI_Aint at_peer(const fire_edges_t *t, size_t offset)
{
    return (MPI_Aint)((size_t)t->rank * t->stride + offset);
}

static fire_status_t put(fire_edges_t *t, int peer, size_t offset, const void *data,
                         size_t n)
{
    return FIRE_MPI(MPI_Put(data, (int)n, MPI_BYTE, peer, at_peer(t, offset), (int)n,
                            MPI_BYTE, t->win));
}

/* One word, whole or not at all; then it is there. */
static fire_status_t put_word(fire_edges_t *t, int peer, size_t offset, uint64_t word)
{
    FIRE_TRY(FIRE_MPI(MPI_Accumulate(&word, 1, MPI_UINT64_T, peer, at_peer(t, offset),
                                     1, MPI_UINT64_T, MPI_REPLACE, t->win)));
    return FIRE_MPI(MPI_Win_flush(peer, t->win));
}

/* Bytes into the peer's ring, around its end if need be. */
static fire_status_t put_ring(fire_edges_t *t, int peer, uint64_t at, const void *data,
                              size_t n)
{
    size_t from = at % t->ring, first = n < t->ring - from ? n : t->ring - from;

    FIRE_TRY(put(t, peer, offsetof(edge_t, ring) + from, data, first));
    if (first == n) return FIRE_OK;
    return put(t, peer, offsetof(edge_t, ring), (const char *)data + first, n - first);
}

/* Room in the ring for one more piece with at least a byte (or an empty one). */
static size_t room(const fire_edges_t *t, const fire_side_t *side)
{
    size_t used = side->written - atomic_load(&side->edge->credit);

    return t->ring - used > sizeof(head_t) ? t->ring - used - sizeof(head_t) : 0;
}

static uint64_t padded(uint64_t n)
{
    return (n + 7) / 8 * 8;
}

/* As many pieces as the credit allows, then one notification for all. */
static fire_status_t push(fire_edges_t *t, int peer)
{
    fire_side_t *side  = &t->side[peer];
    uint64_t     start = side->written;

    while (side->sending.first != NULL && room(t, side) > 0) {
        fire_parcel_t *s    = (fire_parcel_t *)side->sending.first;
        size_t         left = s->len - s->moved, most = room(t, side) / 8 * 8;
        head_t         head = {s->ticket, s->len, left < most ? left : most};

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
static void join(fire_side_t *side, fire_parcel_t *send, uint64_t ticket)
{
    send->ticket = number_of(ticket);
    fire_queue_add(&side->sending, send);
}

static void take_tickets(fire_side_t *side)
{
    for (;;) {
        uint64_t       ticket = atomic_load(&side->edge->ticket[side->taken % TICKETS]);
        fire_parcel_t *send;

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
static fire_status_t ask(fire_edges_t *t, int peer)
{
    fire_side_t *side = &t->side[peer];

    while (side->unasked.first != NULL && side->asking[side->asked % TICKETS] == NULL) {
        fire_parcel_t *receive = (fire_parcel_t *)side->unasked.first;
        size_t         k       = side->asked % TICKETS;
        uint64_t       ticket  = (side->asked + 1) << 32 | (uint32_t)receive->item.tag;

        fire_queue_cut(&side->unasked, &side->unasked.first);
        side->asking[k] = receive;
        receive->ticket = side->asked++;
        FIRE_TRY(
            put_word(t, peer, offsetof(edge_t, ticket) + k * sizeof(ticket), ticket));
    }
    return FIRE_OK;
}

/* ---- reading what peers wrote ---- */

static void get_ring(const fire_edges_t *t, const fire_side_t *side, uint64_t at,
                     void *data, size_t n)
{
    size_t from = at % t->ring, first = n < t->ring - from ? n : t->ring - from;

    memcpy(data, side->edge->ring + from, first);
    memcpy((char *)data + first, side->edge->ring, n - first);
}

/* One piece. A receive that was given up has no length and swallows it. */
static void get_piece(const fire_edges_t *t, fire_side_t *side, const head_t *head)
{
    fire_parcel_t *s    = side->asking[head->ticket % TICKETS];
    size_t         keep = s->moved < s->len ? s->len - s->moved : 0;

    if (keep > head->len) keep = head->len;
    get_ring(t, side, side->read + sizeof(*head), s->memory + s->moved, keep);
    side->read += sizeof(*head) + padded(head->len);
    s->moved += head->len;
    if (s->moved < head->total) return;
    s->len                               = head->total;
    s->done                              = true;
    side->asking[head->ticket % TICKETS] = NULL;
}

static fire_status_t pull(fire_edges_t *t, int peer)
{
    fire_side_t *side  = &t->side[peer];
    uint64_t     start = side->read, tail = atomic_load(&side->edge->tail);

    while (side->read < tail) {
        head_t head;

        get_ring(t, side, side->read, &head, sizeof(head));
        get_piece(t, side, &head);
    }
    if (side->read == start) return FIRE_OK;
    FIRE_TRY(ask(t, peer));
    return put_word(t, peer, offsetof(edge_t, credit), side->read);
}

/* ---- for the transport ---- */

fire_status_t fire_edges_send(fire_edges_t *e, fire_parcel_t *p)
{
    fire_side_t *side = &e->side[p->peer];

    for (int k = 0; k < side->nopen; k++)
        if (tag_of(side->open[k]) == p->item.tag) {
            join(side, p, side->open[k]);
            memmove(&side->open[k], &side->open[k + 1],
                    (size_t)(--side->nopen - k) * sizeof(side->open[0]));
            return FIRE_OK;
        }
    fire_queue_add(&side->waiting, p);
    return FIRE_OK;
}

fire_status_t fire_edges_recv(fire_edges_t *e, fire_parcel_t *p)
{
    fire_queue_add(&e->side[p->peer].unasked, p);
    return ask(e, p->peer);
}

void fire_edges_drop(fire_edges_t *e, fire_parcel_t *p)
{
    fire_queue_drop(&e->side[p->peer].waiting, p);
    fire_queue_drop(&e->side[p->peer].sending, p);
    fire_queue_drop(&e->side[p->peer].unasked, p);
    p->len = 0; /* what still comes is swallowed */
}

fire_status_t fire_edges_poll(fire_edges_t *e)
{
    FIRE_TRY(FIRE_MPI(MPI_Win_sync(e->win)));
    for (int r = 0; r < e->size; r++) {
        if (r == e->rank) continue;
        take_tickets(&e->side[r]);
        FIRE_TRY(push(e, r));
        FIRE_TRY(pull(e, r));
    }
    return FIRE_OK;
}

static fire_status_t open_window(MPI_Comm comm, fire_edges_t *e)
{
    size_t n = (size_t)e->size, each = RINGS_ALL / n / 64 * 64;
    char  *memory;

    e->ring   = each < RING_LEAST ? RING_LEAST : each > RING_MOST ? RING_MOST : each;
    e->stride = offsetof(edge_t, ring) + e->ring;
    FIRE_TRY(FIRE_NEW(&e->side, n));
    FIRE_TRY(FIRE_MPI(MPI_Win_allocate((MPI_Aint)(e->stride * n), 1, MPI_INFO_NULL,
                                       comm, &memory, &e->win)));
    memset(memory, 0, e->stride * n);
    for (size_t r = 0; r < n; r++) {
        fire_side_t *side = &e->side[r];

        side->edge = (edge_t *)(memory + r * e->stride);
        fire_queue_init(&side->waiting);
        fire_queue_init(&side->sending);
        fire_queue_init(&side->unasked);
    }
    return FIRE_MPI(MPI_Win_lock_all(0, e->win));
}

/* Nobody may write before everybody's window is clean; and all ranks get one, or
 * none does. */
fire_status_t fire_edges_open(MPI_Comm comm, fire_edges_t *e)
{
    fire_status_t st;
    int           ok;

    *e = (fire_edges_t){.win = MPI_WIN_NULL};
    MPI_Comm_rank(comm, &e->rank);
    MPI_Comm_size(comm, &e->size);
    st = open_window(comm, e);
    ok = st == FIRE_OK;
    if (MPI_Allreduce(MPI_IN_PLACE, &ok, 1, MPI_INT, MPI_MIN, comm) == MPI_SUCCESS &&
        ok)
        return FIRE_OK;
    fire_edges_close(e, st < 0);
    if (st < 0) return st;
    return FIRE_FAIL(FIRE_ERR_UNSUPPORTED, "another rank has none");
}

void fire_edges_close(fire_edges_t *e, bool broken)
{
    if (e->win != MPI_WIN_NULL && !broken) {
        MPI_Win_unlock_all(e->win);
        MPI_Win_free(&e->win);
    }
    fire_free(e->side);
    e->side = NULL;
}
