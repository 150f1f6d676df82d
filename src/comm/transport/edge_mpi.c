/* edge_mpi.c - the edges of edge_mpi.h: rings, RTRs and credits in one MPI window.
 *
 * Every word in the window has one writer and only grows, so that a reader needs no
 * lock: it compares the word with its own count of what it has read. */
#include "comm/transport/edge_mpi.h"

#include <stdatomic.h>
#include <string.h>

#include "base/alloc.h"

enum {
    RTRS       = 512, /* receives that a mailbox can announce at a time */
    RING_LEAST = 64 << 10,
    RING_MOST  = 1 << 20,
    RINGS_ALL  = 64 << 20 /* bytes of all rings of a rank, roughly */
};

/* In this rank's window; written by the peer, read here. */
typedef struct mailbox {
    _Atomic uint64_t tail;      /* bytes that the peer has written into `ring` */
    _Atomic uint64_t credit;    /* bytes that the peer has taken out of its own ring */
    _Atomic uint64_t rtr[RTRS]; /* (number + 1) << 32 | tag; number k is in k % RTRS */
    char             ring[];
} mailbox_t;

/* Precedes each piece of a message in a ring. */
typedef struct head {
    uint64_t rtr;   /* number of the RTR that the message answers */
    uint64_t total; /* bytes of the whole message */
    uint64_t len;   /* bytes of this piece */
} head_t;

/* What this rank knows about one peer. */
struct fire_edge {
    mailbox_t           *mailbox;
    fire_queue_t         unmatched_sends; /* sends that have no RTR yet */
    fire_queue_t         sending;         /* sends that have one, in order */
    fire_queue_t         unasked;         /* receives that wait for a free RTR */
    uint64_t             rtrs_read;       /* RTRs of the peer taken from the mailbox */
    uint64_t             written;         /* bytes put into the peer's ring */
    uint64_t             asked;           /* RTRs written to the peer */
    uint64_t             read;            /* bytes taken out of our ring */
    uint64_t             open[RTRS];      /* RTRs that match no send yet, in order */
    int                  nopen;
    fire_edge_message_t *receive[RTRS]; /* receives under way, by RTR number % RTRS */
};

/* ---- writing to a peer ---- */

/* Offset in the peer's window of a byte of our mailbox there. */
static size_t at_peer(const fire_edges_t *t, size_t offset)
{
    return (size_t)t->rank * t->stride + offset;
}

static fire_status_t put(fire_edges_t *t, int peer, size_t offset, const void *data,
                         size_t n)
{
    return FIRE_MPI(t->mpi, put(t->win, peer, at_peer(t, offset), data, (int)n));
}

/* Write one word atomically; on return the peer can see it, and all that was put before
 * it and flushed. */
static fire_status_t put_word(fire_edges_t *t, int peer, size_t offset, uint64_t word)
{
    FIRE_TRY(FIRE_MPI(t->mpi, accumulate(t->win, peer, at_peer(t, offset), &word)));
    return FIRE_MPI(t->mpi, win_flush(t->win, peer));
}

/* Put n bytes at position `at` of the peer's ring, in two parts where the ring ends. */
static fire_status_t put_ring(fire_edges_t *t, int peer, uint64_t at, const void *data,
                              size_t n)
{
    size_t from = at % t->ring, first = n < t->ring - from ? n : t->ring - from;

    FIRE_TRY(put(t, peer, offsetof(mailbox_t, ring) + from, data, first));
    if (first == n) return FIRE_OK;
    return put(t, peer, offsetof(mailbox_t, ring), (const char *)data + first,
               n - first);
}

/* Bytes of payload that one more piece may have; 0: the peer must read first. */
static size_t room(const fire_edges_t *t, const fire_edge_t *edge)
{
    size_t used = edge->written - atomic_load(&edge->mailbox->credit);

    return t->ring - used > sizeof(head_t) ? t->ring - used - sizeof(head_t) : 0;
}

static uint64_t padded(uint64_t n)
{
    return (n + 7) / 8 * 8;
}

/* Write as many pieces as the credit allows, then one new tail that announces them all.
 * The flush in between keeps the order: bytes first, tail second. */
static fire_status_t push(fire_edges_t *t, int peer)
{
    fire_edge_t *edge  = &t->edge[peer];
    uint64_t     start = edge->written;

    while (edge->sending.first != NULL && room(t, edge) > 0) {
        fire_edge_message_t *s    = (fire_edge_message_t *)edge->sending.first;
        size_t               left = s->len - s->moved, most = room(t, edge) / 8 * 8;
        head_t               head = {s->rtr, s->len, left < most ? left : most};

        FIRE_TRY(put_ring(t, peer, edge->written, &head, sizeof(head)));
        FIRE_TRY(put_ring(t, peer, edge->written + sizeof(head), s->memory + s->moved,
                          head.len));
        FIRE_TRY(FIRE_MPI(t->mpi, win_flush(t->win, peer)));
        edge->written += sizeof(head) + padded(head.len);
        s->moved += head.len;
        if (s->moved < s->len) continue;
        s->done = true;
        fire_queue_cut(&edge->sending, &edge->sending.first);
    }
    if (edge->written == start) return FIRE_OK;
    return put_word(t, peer, offsetof(mailbox_t, tail), edge->written);
}

/* ---- announcing and matching receives ---- */

static int tag_of(uint64_t rtr)
{
    return (int)(uint32_t)rtr;
}

static uint64_t number_of(uint64_t rtr)
{
    return (uint32_t)(rtr >> 32) - 1u;
}

/* The peer has announced the receive of this send: it may go out. */
static void start_send(fire_edge_t *edge, fire_edge_message_t *send, uint64_t rtr)
{
    send->rtr = number_of(rtr);
    fire_queue_add(&edge->sending, send);
}

/* Read the peer's new RTRs and match them with sends. */
static void take_rtrs(fire_edge_t *edge)
{
    for (;;) {
        uint64_t rtr = atomic_load(&edge->mailbox->rtr[edge->rtrs_read % RTRS]);
        fire_edge_message_t *send;

        if ((uint32_t)(rtr >> 32) != (uint32_t)(edge->rtrs_read + 1)) return;
        edge->rtrs_read++;
        send = fire_queue_take(&edge->unmatched_sends, tag_of(rtr));
        if (send != NULL)
            start_send(edge, send, rtr);
        else
            edge->open[edge->nopen++] = rtr;
    }
}

/* Announce receives to the peer, as long as RTRs are free. */
static fire_status_t announce(fire_edges_t *t, int peer)
{
    fire_edge_t *edge = &t->edge[peer];

    while (edge->unasked.first != NULL && edge->receive[edge->asked % RTRS] == NULL) {
        fire_edge_message_t *receive = (fire_edge_message_t *)edge->unasked.first;
        size_t               k       = edge->asked % RTRS;
        uint64_t rtr = (edge->asked + 1) << 32 | (uint32_t)receive->item.tag;

        fire_queue_cut(&edge->unasked, &edge->unasked.first);
        edge->receive[k] = receive;
        receive->rtr     = edge->asked++;
        FIRE_TRY(put_word(t, peer, offsetof(mailbox_t, rtr) + k * sizeof(rtr), rtr));
    }
    return FIRE_OK;
}

/* ---- reading what peers wrote ---- */

/* Copy n bytes out of our ring from position `at`. */
static void get_ring(const fire_edges_t *t, const fire_edge_t *edge, uint64_t at,
                     void *data, size_t n)
{
    size_t from = at % t->ring, first = n < t->ring - from ? n : t->ring - from;

    memcpy(data, edge->mailbox->ring + from, first);
    memcpy((char *)data + first, edge->mailbox->ring, n - first);
}

/* Copy one piece to the receive that it answers. A receive that was dropped has length
 * 0, so its bytes are skipped. */
static void get_piece(const fire_edges_t *t, fire_edge_t *edge, const head_t *head)
{
    fire_edge_message_t *s    = edge->receive[head->rtr % RTRS];
    size_t               keep = s->moved < s->len ? s->len - s->moved : 0;

    if (keep > head->len) keep = head->len;
    get_ring(t, edge, edge->read + sizeof(*head), s->memory + s->moved, keep);
    edge->read += sizeof(*head) + padded(head->len);
    s->moved += head->len;
    if (s->moved < head->total) return;
    s->len                          = head->total;
    s->done                         = true;
    edge->receive[head->rtr % RTRS] = NULL;
}

/* Take all pieces out of our ring, then give the peer its credit back. */
static fire_status_t pull(fire_edges_t *t, int peer)
{
    fire_edge_t *edge  = &t->edge[peer];
    uint64_t     start = edge->read, tail = atomic_load(&edge->mailbox->tail);

    while (edge->read < tail) {
        head_t head;

        get_ring(t, edge, edge->read, &head, sizeof(head));
        get_piece(t, edge, &head);
    }
    if (edge->read == start) return FIRE_OK;
    FIRE_TRY(announce(t, peer));
    return put_word(t, peer, offsetof(mailbox_t, credit), edge->read);
}

/* ---- for the transport ---- */

fire_status_t fire_edges_send(fire_edges_t *e, fire_edge_message_t *p)
{
    fire_edge_t *edge = &e->edge[p->peer];

    for (int k = 0; k < edge->nopen; k++)
        if (tag_of(edge->open[k]) == p->item.tag) {
            start_send(edge, p, edge->open[k]);
            memmove(&edge->open[k], &edge->open[k + 1],
                    (size_t)(--edge->nopen - k) * sizeof(edge->open[0]));
            return FIRE_OK;
        }
    fire_queue_add(&edge->unmatched_sends, p);
    return FIRE_OK;
}

fire_status_t fire_edges_recv(fire_edges_t *e, fire_edge_message_t *p)
{
    fire_queue_add(&e->edge[p->peer].unasked, p);
    return announce(e, p->peer);
}

void fire_edges_drop(fire_edges_t *e, fire_edge_message_t *p)
{
    fire_queue_drop(&e->edge[p->peer].unmatched_sends, p);
    fire_queue_drop(&e->edge[p->peer].sending, p);
    fire_queue_drop(&e->edge[p->peer].unasked, p);
    p->len = 0; /* get_piece() throws away what still arrives */
}

fire_status_t fire_edges_poll(fire_edges_t *e)
{
    FIRE_TRY(FIRE_MPI(e->mpi, win_sync(e->win)));
    for (int r = 0; r < e->size; r++) {
        if (r == e->rank) continue;
        take_rtrs(&e->edge[r]);
        FIRE_TRY(push(e, r));
        FIRE_TRY(pull(e, r));
    }
    return FIRE_OK;
}

static fire_status_t open_window(const fire_job_t *job, fire_edges_t *e)
{
    size_t n = (size_t)e->size, each = RINGS_ALL / n / 64 * 64;
    char  *memory;

    e->ring   = each < RING_LEAST ? RING_LEAST : each > RING_MOST ? RING_MOST : each;
    e->stride = offsetof(mailbox_t, ring) + e->ring;
    FIRE_TRY(FIRE_NEW(&e->edge, n));
    FIRE_TRY(
        FIRE_MPI(e->mpi, win_allocate(job->world, e->stride * n, &memory, &e->win)));
    memset(memory, 0, e->stride * n);
    for (size_t r = 0; r < n; r++) {
        fire_edge_t *edge = &e->edge[r];

        edge->mailbox = (mailbox_t *)(memory + r * e->stride);
        fire_queue_init(&edge->unmatched_sends);
        fire_queue_init(&edge->sending);
        fire_queue_init(&edge->unasked);
    }
    return FIRE_MPI(e->mpi, win_lock_all(e->win, false));
}

/* The Allreduce makes all ranks agree whether every window could be made; it is also
 * the barrier that keeps a peer from writing before memory is zeroed. */
fire_status_t fire_edges_open(const fire_job_t *job, fire_edges_t *e)
{
    fire_status_t st;
    int           ok;

    *e = (fire_edges_t){.mpi = job->mpi, .rank = job->rank, .size = job->size};
    st = open_window(job, e);
    ok = st == FIRE_OK;
    if (e->mpi->allreduce(job->world, FIRE_MPI_MIN_INT, &ok, 1) == 0 && ok)
        return FIRE_OK;
    fire_edges_close(e, st < 0);
    if (st < 0) return st;
    return FIRE_FAIL(FIRE_ERR_UNSUPPORTED, "another rank has no window");
}

void fire_edges_close(fire_edges_t *e, bool broken)
{
    if (e->win != NULL && !broken) {
        e->mpi->win_unlock_all(e->win);
        e->mpi->win_free(&e->win);
    }
    fire_free(e->edge);
    e->edge = NULL;
}
