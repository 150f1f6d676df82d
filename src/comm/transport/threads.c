/* threads.c - messages between threads of one process.
 *
 * A message is a slot of its sender, linked into the receiver's inbox. The receiver
 * reads the bytes in the sender's memory (zero-copy: may write there too) and then
 * marks the slot done, so bytes are copied once or not at all. States of a message:
 *
 *            match()           copied or, zero-copy, the receiver's release()
 *   POSTED  --------->  TAKEN  ----------------------------------------------->  DONE
 *      |  withdraw()
 *      +------------->  WITHDRAWN: the sender gave it up
 *
 * Both ways out of POSTED are a compare-and-swap, so exactly one of them happens. A
 * lock guards each inbox; all other members of an endpoint belong to its thread. */
#include "comm/transport/threads.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "comm/transport/queue.h"

enum { POSTED, TAKEN, DONE, WITHDRAWN };

/* A posted send or receive. */
typedef struct slot {
    fire_item_t  item;        /* first; holds the tag */
    int          index, peer; /* number in its endpoint; a send's peer is its sender */
    bool         out;         /* a send */
    void        *memory;
    size_t       len; /* bytes */
    _Atomic int  state;
    struct slot *lender; /* zero-copy receive: the send whose memory it uses */
    struct slot *next_free;
} slot_t;

/* One rank's transport. */
typedef struct endpoint {
    fire_transport_t base; /* first: see endpoint() */
    fire_team_t     *team;
    pthread_mutex_t  lock;    /* of the inbox */
    fire_queue_t     inbox;   /* sends of other ranks that this one has not seen */
    _Atomic bool     filled;  /* the inbox is not empty; read without the lock */
    fire_queue_t    *early;   /* [size] by source: sends that no receive matches yet */
    fire_queue_t    *waiting; /* [size] by source: receives that no send matches yet */
    slot_t         **slot;    /* [nslot] */
    slot_t          *free;    /* list */
    int64_t          nslot, cap;
    int              reserved;
    _Atomic double   seen; /* fire_clock_now() of its last poll() */
} endpoint_t;

/* Slots are freed with the team only: other ranks' queues may link to them. */
typedef struct block {
    struct block *next;
    slot_t        slot[];
} block_t;

struct fire_team {
    int             size;
    endpoint_t     *rank;   /* [size] */
    pthread_mutex_t lock;   /* of the members below */
    block_t        *blocks; /* list of all slots */
    _Atomic bool failed; /* set last, so that the next two may be read without lock */
    int          failed_rank;
    char         cause[512];
};

static endpoint_t *endpoint(fire_transport_t *tp)
{
    return (endpoint_t *)tp; /* base comes first */
}

static fire_status_t threads_reserve(fire_transport_t *tp, int more)
{
    endpoint_t *e = endpoint(tp);
    int         n = e->reserved + more - (int)e->nslot;
    block_t    *b;

    if (n > 0) {
        FIRE_TRY(fire_grow(&e->slot, &e->cap, e->nslot + n, sizeof(*e->slot)));
        FIRE_TRY(fire_alloc(1, sizeof(*b) + (size_t)n * sizeof(b->slot[0]),
                            "message slots", (void **)&b));
        for (int i = 0; i < n; i++) {
            b->slot[i].index     = (int)e->nslot;
            b->slot[i].next_free = e->free;
            e->free              = &b->slot[i];
            e->slot[e->nslot++]  = &b->slot[i];
        }
        pthread_mutex_lock(&e->team->lock);
        b->next         = e->team->blocks;
        e->team->blocks = b;
        pthread_mutex_unlock(&e->team->lock);
    }
    e->reserved += more;
    return FIRE_OK;
}

static bool threads_reaches(fire_transport_t *tp, int peer, const void *memory)
{
    (void)tp, (void)peer, (void)memory;
    return true;
}

static slot_t *new_slot(endpoint_t *e, bool out, int peer, int tag, void *memory,
                        size_t len)
{
    slot_t *s = e->free;

    if (s == NULL) return NULL;
    e->free     = s->next_free;
    s->item.tag = tag;
    s->out      = out;
    s->peer     = peer;
    s->memory   = memory;
    s->len      = len;
    s->lender   = NULL;
    atomic_store_explicit(&s->state, POSTED, memory_order_relaxed);
    return s;
}

static fire_status_t no_slot(const fire_transport_t *tp)
{
    return FIRE_FAIL(FIRE_ERR_COMM, "rank %d has no message slot left", tp->rank);
}

static void free_slot(endpoint_t *e, slot_t *s)
{
    s->next_free = e->free;
    e->free      = s;
}

static fire_status_t threads_send(fire_transport_t *tp, int peer, int tag, void *memory,
                                  size_t len, bool lent, fire_req_t *req_p)
{
    endpoint_t *to = &endpoint(tp)->team->rank[peer];
    slot_t     *s  = new_slot(endpoint(tp), true, tp->rank, tag, memory, len);

    (void)lent; /* every message is sent as an address */
    if (s == NULL) return no_slot(tp);
    *req_p = s->index;
    pthread_mutex_lock(&to->lock);
    fire_queue_add(&to->inbox, s);
    atomic_store_explicit(&to->filled, true, memory_order_release);
    pthread_mutex_unlock(&to->lock);
    return FIRE_OK;
}

/* Give a send's bytes to a receive; false if the sender has withdrawn it. Copied bytes
 * are done at once; of a zero-copy message the sender's slot is done when the receive
 * is released. */
static bool match(slot_t *receive, slot_t *message)
{
    int posted = POSTED;

    if (!atomic_compare_exchange_strong(&message->state, &posted, TAKEN)) return false;
    if (receive->memory == NULL) {
        receive->memory = message->memory;
        receive->lender = message;
        receive->len    = message->len;
    } else {
        if (message->len < receive->len) receive->len = message->len;
        memcpy(receive->memory, message->memory, receive->len);
        receive->len = message->len;
        atomic_store_explicit(&message->state, DONE, memory_order_release);
    }
    atomic_store_explicit(&receive->state, DONE, memory_order_relaxed);
    return true;
}

static fire_status_t threads_recv(fire_transport_t *tp, int peer, int tag, void *memory,
                                  size_t len, fire_req_t *req_p)
{
    endpoint_t *e = endpoint(tp);
    slot_t     *s = new_slot(e, false, peer, tag, memory, len), *message;

    if (s == NULL) return no_slot(tp);
    *req_p = s->index;
    while ((message = fire_queue_take(&e->early[peer], tag)) != NULL)
        if (match(s, message)) return FIRE_OK;
    fire_queue_add(&e->waiting[peer], s);
    return FIRE_OK;
}

/* A send from the inbox: match it with a waiting receive, or keep it. */
static void deliver(endpoint_t *e, slot_t *message)
{
    int     from    = message->peer;
    slot_t *receive = fire_queue_take(&e->waiting[from], message->item.tag);

    if (receive == NULL)
        fire_queue_add(&e->early[from], message);
    else if (!match(receive, message))
        fire_queue_add(&e->waiting[from], receive); /* the send was withdrawn */
}

static fire_status_t threads_poll(fire_transport_t *tp)
{
    endpoint_t  *e    = endpoint(tp);
    fire_team_t *team = e->team;
    fire_item_t *item, *next;

    atomic_store_explicit(&e->seen, fire_clock_now(), memory_order_relaxed);
    if (atomic_load_explicit(&team->failed, memory_order_acquire) &&
        team->failed_rank != tp->rank)
        return FIRE_FAIL(FIRE_ERR_PEER, "rank %d: %s", team->failed_rank, team->cause);
    if (!atomic_load_explicit(&e->filled, memory_order_acquire)) return FIRE_OK;
    pthread_mutex_lock(&e->lock);
    item = e->inbox.first;
    fire_queue_init(&e->inbox);
    atomic_store_explicit(&e->filled, false, memory_order_relaxed);
    pthread_mutex_unlock(&e->lock);
    for (; item != NULL; item = next) {
        next = item->next;
        deliver(e, (slot_t *)item); /* its first member */
    }
    return FIRE_OK;
}

static bool is_done(slot_t *s)
{
    return atomic_load_explicit(&s->state, memory_order_acquire) == DONE;
}

static fire_status_t threads_test(fire_transport_t *tp, fire_req_t req,
                                  fire_arrival_t *arrival_p)
{
    slot_t *s = endpoint(tp)->slot[req];

    if (!is_done(s)) return FIRE_IN_PROGRESS;
    if (arrival_p != NULL) *arrival_p = (fire_arrival_t){s->memory, s->len};
    return FIRE_OK;
}

/* Withdraw a send. The receiver may be reading it at this moment: then wait until it is
 * done, but for one second at most, because that thread may have ended. True if the
 * slot can be used again. */
static bool withdraw(slot_t *s)
{
    int          posted = POSTED;
    double       start  = fire_clock_now();
    fire_pause_t pause  = {0};

    if (atomic_compare_exchange_strong(&s->state, &posted, WITHDRAWN)) return false;
    while (!is_done(s)) {
        if (fire_clock_now() - start > 1.0) return false;
        fire_pause(&pause);
    }
    return true;
}

static void threads_release(fire_transport_t *tp, fire_req_t req)
{
    endpoint_t *e = endpoint(tp);
    slot_t     *s = e->slot[req];

    if (s->out && !is_done(s) && !withdraw(s)) return; /* others may link to it */
    if (!s->out && !is_done(s)) fire_queue_drop(&e->waiting[s->peer], s);
    if (s->lender != NULL)
        atomic_store_explicit(&s->lender->state, DONE, memory_order_release);
    free_slot(e, s);
}

static bool threads_alive(fire_transport_t *tp, int peer, double within)
{
    endpoint_t *e = &endpoint(tp)->team->rank[peer];

    return fire_clock_now() - atomic_load(&e->seen) < within;
}

static void threads_fail(fire_transport_t *tp, const char *cause)
{
    fire_team_t *team = endpoint(tp)->team;

    pthread_mutex_lock(&team->lock);
    if (!atomic_load_explicit(&team->failed, memory_order_relaxed)) {
        team->failed_rank = tp->rank;
        snprintf(team->cause, sizeof(team->cause), "%s", cause);
        atomic_store_explicit(&team->failed, true, memory_order_release);
    }
    pthread_mutex_unlock(&team->lock);
}

static fire_status_t threads_alloc(fire_transport_t *tp, size_t bytes, void **memory_p)
{
    (void)tp;
    return fire_alloc(bytes, 1, "exchange buffer", memory_p);
}

static void threads_free(fire_transport_t *tp, void *memory)
{
    (void)tp;
    fire_free(memory);
}

static void threads_close(fire_transport_t *tp)
{
    endpoint_t *e = endpoint(tp);

    fire_free(e->early);
    fire_free(e->slot);
    fire_free(e->base.node);
    e->early     = NULL;
    e->slot      = NULL;
    e->base.node = NULL;
}

static const fire_transport_ops_t threads_ops = {
    .name    = "threads",
    .close   = threads_close,
    .reserve = threads_reserve,
    .reaches = threads_reaches,
    .send    = threads_send,
    .recv    = threads_recv,
    .poll    = threads_poll,
    .test    = threads_test,
    .release = threads_release,
    .alive   = threads_alive,
    .fail    = threads_fail,
    .alloc   = threads_alloc,
    .dealloc = threads_free,
};

fire_status_t fire_team_create(int size, fire_team_t **team_p)
{
    fire_team_t *team;

    if (size < 1) return FIRE_FAIL(FIRE_ERR_INVALID, "a team of %d workers", size);
    FIRE_TRY(FIRE_NEW(&team, 1));
    if (FIRE_NEW(&team->rank, size) < 0) {
        fire_free(team);
        return FIRE_ERR_NOMEM;
    }
    team->size = size;
    pthread_mutex_init(&team->lock, NULL);
    for (int r = 0; r < size; r++) {
        pthread_mutex_init(&team->rank[r].lock, NULL);
        fire_queue_init(&team->rank[r].inbox);
    }
    *team_p = team;
    return FIRE_OK;
}

void fire_team_destroy(fire_team_t *team)
{
    block_t *next;

    if (team == NULL) return;
    for (int r = 0; r < team->size; r++)
        pthread_mutex_destroy(&team->rank[r].lock);
    for (block_t *b = team->blocks; b != NULL; b = next) {
        next = b->next;
        fire_free(b);
    }
    pthread_mutex_destroy(&team->lock);
    fire_free(team->rank);
    fire_free(team);
}

fire_status_t fire_threads_open(fire_team_t *team, int rank, fire_transport_t **tp_p)
{
    endpoint_t *e = &team->rank[rank];

    FIRE_TRY(FIRE_NEW(&e->early, 2 * team->size));
    if (FIRE_NEW(&e->base.node, team->size) < 0) { /* all zero: one node */
        fire_free(e->early);
        return FIRE_ERR_NOMEM;
    }
    e->waiting = e->early + team->size;
    for (int r = 0; r < 2 * team->size; r++)
        fire_queue_init(&e->early[r]);
    e->team         = team;
    e->base.ops     = &threads_ops;
    e->base.rank    = rank;
    e->base.size    = team->size;
    e->base.max_tag = INT32_MAX;
    e->base.window  = 2;
    *tp_p           = &e->base;
    return FIRE_OK;
}
