/* exec_setup.c - makes an executor: finds the chains and channels of a schedule and
 * allocates all memory that running it needs.
 *
 * Sender and receiver of a channel must agree on the order of its messages without
 * talking about it. Both sort by block, round and chunk, which are the same numbers on
 * both sides. */
#include <stdlib.h>

#include "base/alloc.h"
#include "comm/exec/exec_state.h"

/* Sort key of a message: by channel, then in the order in which it is sent. */
typedef struct place {
    int64_t step;
    int     color, peer, block, round, chunk;
    bool    out;
} place_t;

static int64_t compare_channel(const place_t *a, const place_t *b)
{
    if (a->color != b->color) return a->color - b->color;
    if (a->peer != b->peer) return a->peer - b->peer;
    return a->out - b->out;
}

static int compare_place(const void *va, const void *vb)
{
    const place_t *a = va, *b = vb;
    int64_t        d = compare_channel(a, b);

    if (d == 0) d = a->block - b->block;
    if (d == 0) d = a->round - b->round;
    if (d == 0) d = a->chunk - b->chunk;
    if (d == 0) d = a->step - b->step;
    return d < 0 ? -1 : d > 0;
}

/* Keys of all messages, sorted; returns how many. */
static int64_t sort_places(const fire_exec_t *x, place_t *p)
{
    int64_t n = 0;

    for (int64_t i = 0; i < x->s.sched->n; i++) {
        const fire_step_t *st = fire_exec_step(x, i);

        if (!fire_step_is_local(st->kind))
            p[n++] = (place_t){.step  = i,
                               .color = st->color,
                               .peer  = st->peer,
                               .block = fire_sched_block(x->s.sched, st->chunk),
                               .round = st->round,
                               .chunk = st->chunk,
                               .out   = fire_step_is_out(st->kind)};
    }
    qsort(p, (size_t)n, sizeof(*p), compare_place);
    return n;
}

static void add_channel(fire_exec_t *x, const place_t *p, int64_t first)
{
    fire_channel_t *ch = &x->channel[x->nchannel++];

    ch->peer  = p->peer;
    ch->color = p->color;
    ch->out   = p->out;
    ch->first = ch->end = first;
    ch->tail = ch->seen = ch->head = first;
}

static fire_status_t find_channels(fire_exec_t *x)
{
    place_t *p;
    int64_t  n, count = 0;

    FIRE_TRY(FIRE_NEW(&p, x->s.sched->n));
    n = sort_places(x, p);
    for (int64_t k = 0; k < n; k++)
        count += k == 0 || compare_channel(&p[k - 1], &p[k]) != 0;
    if (FIRE_NEW(&x->channel, count) < 0) {
        fire_free(p);
        return FIRE_ERR_NOMEM;
    }
    for (int64_t k = 0; k < n; k++) {
        if (k == 0 || compare_channel(&p[k - 1], &p[k]) != 0) add_channel(x, &p[k], k);
        x->order[k]              = p[k].step;
        x->channel_of[p[k].step] = (int)(x->nchannel - 1);
        x->channel[x->nchannel - 1].end++;
    }
    fire_free(p);
    return FIRE_OK;
}

static bool same_chain(const fire_step_t *a, const fire_step_t *b)
{
    return a->color == b->color && a->chunk == b->chunk;
}

static fire_status_t find_chains(fire_exec_t *x)
{
    const fire_step_t *st    = x->s.sched->step;
    int64_t            count = 0, n = x->s.sched->n;

    for (int64_t i = 0; i < n; i++)
        count += i == 0 || !same_chain(&st[i - 1], &st[i]);
    FIRE_TRY(FIRE_NEW(&x->chain, count));
    for (int64_t i = 0; i < n; i++) {
        if (i == 0 || !same_chain(&st[i - 1], &st[i]))
            x->chain[x->nchain++] =
                (fire_chain_t){.first = i,
                               .color = st[i].color,
                               .block = fire_sched_block(x->s.sched, st[i].chunk)};
        x->chain[x->nchain - 1].end = i + 1;
        x->chain_of[i]              = (int)(x->nchain - 1);
        if (st[i].color >= x->ncolor) x->ncolor = st[i].color + 1;
    }
    return FIRE_NEW(&x->front, x->ncolor);
}

static size_t round_up(size_t bytes)
{
    return (bytes + 63) / 64 * 64;
}

/* Zero-copy messages get the widest window: they need no memory, and a rank that is
 * busy with a sum posts nothing, so its peers would wait for addresses between two
 * sums. What one SUM adds must fit, as none of it is released before. */
static void choose_window(const fire_exec_t *x, fire_channel_t *ch)
{
    size_t most  = 1;
    bool   loans = true;
    int    held = 0, round = -1, chunk = -1, least = 0;

    for (int64_t k = ch->first; k < ch->end; k++) {
        const fire_step_t *st    = fire_exec_step(x, x->order[k]);
        size_t             bytes = st->span.len * sizeof(float);

        held  = st->round == round && st->chunk == chunk ? held + 1 : 1;
        round = st->round;
        chunk = st->chunk;
        if (held > least && held <= FIRE_WINDOW_HELD) least = held;

        if (bytes > most) most = bytes;
        loans = loans && fire_step_is_loan(st->kind);
    }
    ch->window = loans ? FIRE_WINDOW_MOST : fire_window_of(x->s.window, most);
    if (ch->window < least) ch->window = least;
    if (ch->window > ch->end - ch->first) ch->window = (int)(ch->end - ch->first);
}

/* Memory outside of the buffer for one message of the channel: the encoded bytes, if
 * there is a codec, and decoded elements where they are held. */
static void measure_channel(const fire_exec_t *x, fire_channel_t *ch)
{
    const fire_codec_t *codec = x->s.codec;
    size_t              most  = 0;

    for (int64_t k = ch->first; k < ch->end; k++) {
        const fire_step_t *st = fire_exec_step(x, x->order[k]);

        if (codec == NULL && (ch->out || ch->lent || st->kind == FIRE_RECV)) continue;
        if (st->span.len > most) most = st->span.len;
    }
    ch->stride = round_up(most * sizeof(float));
    if (codec == NULL) return;
    ch->floats = round_up(codec->bound(most));
    ch->stride = ch->floats + (ch->out ? 0 : ch->stride);
}

/* Can messages with this peer be zero-copy? Encoded ones are in the channel's memory,
 * which peers cannot access: NULL asks for that. */
static bool can_lend(const fire_exec_t *x, int peer)
{
    int me = x->s.tp->rank;

    if (peer == me || (x->s.node != NULL && x->s.node[peer] != x->s.node[me]))
        return false;
    return x->s.tp->ops->reaches(x->s.tp, peer, x->s.codec != NULL ? NULL : x->s.buf);
}

/* Memory for received messages, from the transport if it has a special kind. */
static fire_status_t get_inbox(fire_exec_t *x, size_t bytes)
{
    fire_transport_t *tp = x->s.tp;

    if (tp->ops->inbox != NULL) return tp->ops->inbox(tp, bytes, (void **)&x->memory);
    return FIRE_NEW(&x->memory, bytes);
}

static fire_status_t take_memory(fire_exec_t *x)
{
    size_t bytes = 0;

    for (int64_t k = 0; k < x->nchannel; k++) {
        fire_channel_t *ch = &x->channel[k];

        ch->lent = can_lend(x, ch->peer);
        choose_window(x, ch);
        measure_channel(x, ch);
        bytes += ch->stride * (size_t)ch->window;
        x->requests += ch->window;
    }
    FIRE_TRY(get_inbox(x, bytes));
    bytes = 0;
    for (int64_t k = 0; k < x->nchannel; k++) {
        x->channel[k].memory = x->memory + bytes;
        bytes += x->channel[k].stride * (size_t)x->channel[k].window;
    }
    return FIRE_OK;
}

/* Refuse a schedule that this transport or codec cannot run. */
static fire_status_t check_steps(const fire_exec_t *x)
{
    for (int64_t i = 0; i < x->s.sched->n; i++) {
        fire_step_kind_t kind = fire_exec_step(x, i)->kind;

        if (kind == FIRE_NATIVE &&
            (x->s.tp->ops->allreduce == NULL || x->s.codec != NULL))
            return FIRE_FAIL(FIRE_ERR_UNSUPPORTED,
                             "transport %s has no %sallreduce of its own; choose "
                             "another algorithm",
                             x->s.tp->ops->name, x->s.codec ? "compressed " : "");
        if (fire_step_is_loan(kind) &&
            (x->s.codec != NULL || !x->channel[x->channel_of[i]].lent))
            return FIRE_FAIL(FIRE_ERR_UNSUPPORTED,
                             "rank %d cannot reach rank %d's buffer; allocate it with "
                             "fire_comm_alloc() and do not compress",
                             x->s.tp->rank, fire_exec_step(x, i)->peer);
    }
    return FIRE_OK;
}

static fire_status_t build(fire_exec_t *x)
{
    int64_t n = x->s.sched->n, most = x->s.tp->size + x->s.sched->noperand;

    FIRE_TRY(FIRE_NEW(&x->order, n));
    FIRE_TRY(FIRE_NEW(&x->chain_of, n));
    FIRE_TRY(FIRE_NEW(&x->channel_of, n));
    FIRE_TRY(FIRE_NEW(&x->held, n));
    FIRE_TRY(FIRE_NEW(&x->src, most));
    FIRE_TRY(FIRE_NEW(&x->dst, most));
    FIRE_TRY(find_chains(x));
    FIRE_TRY(find_channels(x));
    FIRE_TRY(take_memory(x));
    FIRE_TRY(check_steps(x));
    FIRE_TRY(x->s.tp->ops->reserve(x->s.tp, x->requests));
    x->reserved = x->requests;
    return FIRE_OK;
}

fire_status_t fire_exec_create(const fire_exec_setup_t *setup, fire_exec_t **exec_p)
{
    fire_exec_t  *x;
    fire_status_t st;

    FIRE_TRY(FIRE_NEW(&x, 1));
    x->s = *setup;
    st   = build(x);
    if (st < 0) {
        fire_exec_destroy(x);
        return st;
    }
    *exec_p = x;
    return FIRE_OK;
}

void fire_exec_destroy(fire_exec_t *x)
{
    if (x == NULL) return;
    for (int64_t k = 0; k < x->nchannel; k++)
        for (fire_channel_t *ch = &x->channel[k]; ch->tail < ch->head; ch->tail++)
            x->s.tp->ops->release(x->s.tp, ch->req[ch->tail % ch->window]);
    if (x->reserved > 0) x->s.tp->ops->reserve(x->s.tp, -x->reserved);
    fire_free(x->order);
    fire_free(x->chain_of);
    fire_free(x->channel_of);
    fire_free(x->held);
    fire_free(x->src);
    fire_free(x->dst);
    fire_free(x->chain);
    fire_free(x->front);
    fire_free(x->channel);
    fire_free(x->memory);
    fire_free(x);
}
