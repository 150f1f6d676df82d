/* exec.c - the executor's state machine. Messages that do not lie in the buffer
 * itself are received early and applied when their round comes, so that the order
 * of additions is the plan's, never the wire's. */
#include "comm/exec/exec.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "comm/exec/exec_state.h"
#include "comm/exec/reduce.h"

static float *place_of(const fire_exec_t *x, const fire_step_t *st)
{
    return x->s.buf + st->span.off;
}

static char *slot(const fire_channel_t *ch, int64_t k)
{
    return ch->memory + (size_t)(k % ch->window) * ch->stride;
}

static void release_oldest(fire_exec_t *x, fire_channel_t *ch)
{
    x->s.tp->ops->release(x->s.tp, ch->req[ch->tail++ % ch->window]);
}

/* All that is held is there: add it up, and give back what was borrowed. */
static void run_sum(fire_exec_t *x, int64_t i)
{
    const fire_step_t *st = fire_exec_step(x, i);
    int                n = fire_exec_holds(x, i), ndst = 1;

    x->src[st->peer] = x->dst[0] = place_of(x, st);
    for (int k = 0; k < n; k++) {
        int64_t h = i - n + k;

        x->src[k < st->peer ? k : k + 1] = x->held[h];
        if (fire_exec_step(x, h)->kind == FIRE_BORROW) x->dst[ndst++] = x->held[h];
    }
    fire_sum_all(x->dst, ndst, x->src, n + 1, st->span.len);
    for (int64_t h = i - n; h < i; h++)
        release_oldest(x, &x->channel[x->channel_of[h]]);
}

/* The sum is complete: make it what the wire can carry, and keep the rest. */
static void run_final(fire_exec_t *x, const fire_step_t *st)
{
    float *sum  = place_of(x, st);
    float *rest = x->s.residual != NULL ? x->s.residual + st->span.off : NULL;

    if (x->s.codec == NULL) return;
    if (rest != NULL) {
        fire_sum_pair(rest, sum, rest, st->span.len);
        memcpy(sum, rest, st->span.len * sizeof(*sum));
    }
    x->s.codec->quantize(x->s.codec_arg, sum, st->span.len);
    for (size_t k = 0; rest != NULL && k < st->span.len; k++)
        rest[k] -= sum[k];
}

static bool is_front_done(const fire_exec_t *x, int color)
{
    const fire_chain_t *front = &x->chain[x->front[color]];

    return x->front[color] < x->nchain && front->color == color && front->left == 0 &&
           front->next == front->end;
}

/* May the chain of this step begin? See fire_sched_block(). */
static bool is_open(const fire_exec_t *x, int64_t i)
{
    const fire_chain_t *chain = &x->chain[x->chain_of[i]];

    return chain->block <= x->chain[x->front[chain->color]].block + 1;
}

/* Enter rounds until one has something to wait for. */
static void enter_rounds(fire_exec_t *x, fire_chain_t *chain)
{
    while (chain->left == 0 && chain->next < chain->end) {
        chain->round = fire_exec_step(x, chain->next)->round;
        for (; chain->next < chain->end; chain->next++) {
            const fire_step_t *st = fire_exec_step(x, chain->next);

            if (st->round != chain->round) break;
            if (!fire_step_is_local(st->kind)) chain->left++;
            if (st->kind == FIRE_FINAL) run_final(x, st);
            if (st->kind == FIRE_SUM) {
                chain->sum   = chain->next;
                chain->holds = fire_exec_holds(x, chain->next);
            }
        }
    }
    if (chain->left > 0) return;
    x->live--;
    while (is_front_done(x, chain->color))
        x->front[chain->color]++;
}

static void finish(fire_exec_t *x, fire_chain_t *chain, int nstep)
{
    chain->left -= nstep;
    if (chain->left == 0) enter_rounds(x, chain);
}

static bool is_its_round(const fire_exec_t *x, int64_t i)
{
    return x->chain[x->chain_of[i]].round == fire_exec_step(x, i)->round;
}

/* Does the message go somewhere else than straight into the buffer? */
static bool is_beside(const fire_exec_t *x, const fire_channel_t *ch,
                      const fire_step_t *st)
{
    return ch->lent || x->s.codec != NULL || st->kind != FIRE_RECV;
}

/* The library does not tell what it sends: counted is the least that a sum of so many
 * ranks can do with. */
static int64_t native_bytes(const fire_exec_t *x, size_t len)
{
    int64_t ranks = x->s.tp->size;

    return 2 * (int64_t)len * (ranks - 1) / ranks;
}

static fire_status_t post_out(fire_exec_t *x, fire_channel_t *ch, const fire_step_t *st,
                              fire_req_t *req)
{
    const fire_transport_ops_t *ops  = x->s.tp->ops;
    void                       *data = place_of(x, st);
    size_t                      len  = st->span.len * sizeof(float);

    if (st->kind == FIRE_NATIVE) {
        x->bytes += native_bytes(x, len);
        return ops->allreduce(x->s.tp, data, st->span.len, req);
    }
    if (x->s.codec != NULL) {
        data = slot(ch, ch->head);
        len  = x->s.codec->encode(place_of(x, st), st->span.len, data);
    }
    x->bytes += (int64_t)len;
    return ops->send(x->s.tp, ch->peer, x->s.tag + ch->color, data, len, ch->lent, req);
}

static fire_status_t post_in(fire_exec_t *x, fire_channel_t *ch, const fire_step_t *st,
                             fire_req_t *req)
{
    void  *data = place_of(x, st);
    size_t len  = st->span.len * sizeof(float);

    if (x->s.codec != NULL) len = x->s.codec->bound(st->span.len);
    if (is_beside(x, ch, st)) data = ch->lent ? NULL : slot(ch, ch->head);
    return x->s.tp->ops->recv(x->s.tp, ch->peer, x->s.tag + ch->color, data, len, req);
}

/* Start what may be started. */
static fire_status_t post(fire_exec_t *x, fire_channel_t *ch)
{
    while (ch->head < ch->end && ch->head - ch->tail < ch->window) {
        int64_t            i   = x->order[ch->head];
        const fire_step_t *st  = fire_exec_step(x, i);
        fire_req_t        *req = &ch->req[ch->head % ch->window];

        if (!is_open(x, i)) break;
        if ((ch->out || !is_beside(x, ch, st)) && !is_its_round(x, i)) break;
        FIRE_TRY(ch->out ? post_out(x, ch, st, req) : post_in(x, ch, st, req));
        ch->head++;
        x->moved = true;
    }
    return FIRE_OK;
}

static fire_status_t check_length(const fire_channel_t *ch, const fire_step_t *st,
                                  size_t len)
{
    if (len == st->span.len * sizeof(float)) return FIRE_OK;
    return FIRE_FAIL(FIRE_ERR_COMM,
                     "rank %d sent %zu bytes where %zu were expected: do all workers "
                     "run the same net with the same settings?",
                     ch->peer, len, st->span.len * sizeof(float));
}

/* Put an arrived message where it belongs. */
static fire_status_t apply(fire_exec_t *x, const fire_channel_t *ch, int64_t i,
                           const fire_arrival_t *got)
{
    const fire_codec_t *codec = x->s.codec;
    const fire_step_t  *st    = fire_exec_step(x, i);
    float              *at    = place_of(x, st);
    size_t              n     = st->span.len;

    if (codec == NULL) FIRE_TRY(check_length(ch, st, got->len));
    switch (st->kind) {
    case FIRE_RECV:
        if (codec != NULL) return codec->decode(got->data, got->len, at, n);
        if (got->data != at) memcpy(at, got->data, n * sizeof(*at));
        return FIRE_OK;
    case FIRE_RECV_ADD:
        if (codec != NULL) return codec->decode_add(got->data, got->len, at, n);
        fire_sum_pair(at, at, got->data, n);
        return FIRE_OK;
    default: /* held */
        x->held[i] = got->data;
        if (codec == NULL) return FIRE_OK;
        x->held[i] = slot(ch, ch->seen) + ch->floats;
        return codec->decode(got->data, got->len, x->held[i], n);
    }
}

/* A message is finished and its round has come. */
static fire_status_t take(fire_exec_t *x, fire_channel_t *ch, int64_t i,
                          const fire_arrival_t *got)
{
    fire_chain_t *chain = &x->chain[x->chain_of[i]];

    if (!ch->out) FIRE_TRY(apply(x, ch, i, got));
    ch->seen++;
    x->moved = true;
    if (!fire_step_is_held(fire_exec_step(x, i)->kind)) {
        release_oldest(x, ch);
        finish(x, chain, 1);
    } else if (--chain->holds == 0) {
        run_sum(x, chain->sum);
        finish(x, chain, fire_exec_holds(x, chain->sum));
    }
    return FIRE_OK;
}

static fire_status_t retire(fire_exec_t *x, fire_channel_t *ch)
{
    while (ch->seen < ch->head) {
        int64_t        i = x->order[ch->seen];
        fire_arrival_t got;
        fire_status_t  st;

        if (!is_its_round(x, i)) break;
        st = x->s.tp->ops->test(x->s.tp, ch->req[ch->seen % ch->window], &got);
        if (st != FIRE_OK) return st < 0 ? st : FIRE_OK;
        FIRE_TRY(take(x, ch, i, &got));
    }
    return FIRE_OK;
}

/* The library tells its calls apart by their order, which is that of start() on all
 * ranks; that of progress() is not. */
static fire_status_t call_library(fire_exec_t *x)
{
    for (int64_t k = 0; k < x->nchannel; k++)
        if (x->channel[k].peer == x->s.tp->rank) FIRE_TRY(post(x, &x->channel[k]));
    return FIRE_OK;
}

fire_status_t fire_exec_start(fire_exec_t *x)
{
    x->live = x->nchain;
    for (int64_t k = 0; k < x->nchannel; k++) {
        fire_channel_t *ch = &x->channel[k];

        ch->tail = ch->seen = ch->head = ch->first;
    }
    for (int64_t k = x->nchain - 1; k >= 0; k--) {
        x->chain[k].next            = x->chain[k].first;
        x->chain[k].left            = 0;
        x->front[x->chain[k].color] = k;
    }
    for (int64_t k = 0; k < x->nchain; k++)
        enter_rounds(x, &x->chain[k]);
    x->last_move = fire_clock_now();
    return call_library(x);
}

/* "ranks 3 (node07), 5 (node09)" */
static void name_ranks(const fire_exec_t *x, const int *rank, int nrank, char *text,
                       size_t size)
{
    char   name[128];
    size_t n = (size_t)snprintf(text, size, "rank%s", nrank > 1 ? "s" : "");

    for (int i = 0; i < nrank && n < size; i++) {
        snprintf(name, sizeof(name), "%d", rank[i]);
        if (x->s.name != NULL) x->s.name(x->s.who, rank[i], name, sizeof(name));
        n += (size_t)snprintf(text + n, size - n, "%s%s", i > 0 ? ", " : " ", name);
    }
}

/* Those of the ranks that have shown no life lately, moved to the front. */
static int silent_ones(const fire_exec_t *x, int *rank, int nrank)
{
    int n = 0;

    for (int i = 0; i < nrank; i++)
        if (!x->s.tp->ops->alive(x->s.tp, rank[i], x->s.timeout / 2)) {
            int other = rank[n];

            rank[n++] = rank[i];
            rank[i]   = other;
        }
    return n;
}

/* Nothing has moved for long. A rank that shows life computes, or waits too, and the
 * one next to the trouble will tell; one that shows none is given up at the deadline.
 * Where all live for ever, ranks wait for each other: name them all. */
static fire_status_t overdue(fire_exec_t *x, double idle)
{
    enum { NAMED = 8 };
    const double warn_at = 0.75 * x->s.timeout, give_up = 20 * x->s.timeout;
    char         text[512];
    int          rank[NAMED], nrank = fire_exec_waits_for(x, rank, NAMED);
    int          nsilent = silent_ones(x, rank, nrank);

    name_ranks(x, rank, nsilent > 0 ? nsilent : nrank, text, sizeof(text));
    if (nsilent > 0 && idle >= warn_at && x->s.warned != NULL && !*x->s.warned) {
        FIRE_LOG(WARNING, "no word from %s for %.0f s; giving up after %.0f s", text,
                 idle, x->s.timeout);
        *x->s.warned = true;
    }
    if (idle < (nsilent > 0 ? x->s.timeout : give_up)) return FIRE_IN_PROGRESS;
    return FIRE_FAIL(FIRE_ERR_TIMEOUT, "no word from %s for %.1f s", text, idle);
}

static fire_status_t check_deadline(fire_exec_t *x)
{
    double now = fire_clock_now();

    if (x->moved) {
        x->last_move = now;
        if (x->s.warned != NULL) *x->s.warned = false;
    }
    return now - x->last_move < x->s.timeout / 2 ? FIRE_IN_PROGRESS
                                                 : overdue(x, now - x->last_move);
}

fire_status_t fire_exec_progress(fire_exec_t *x)
{
    if (x->live > 0) FIRE_TRY(x->s.tp->ops->poll(x->s.tp));
    return fire_exec_advance(x);
}

fire_status_t fire_exec_advance(fire_exec_t *x)
{
    x->moved = false;
    if (x->live == 0) return FIRE_OK;
    for (int64_t k = 0; k < x->nchannel; k++) {
        FIRE_TRY(retire(x, &x->channel[k]));
        FIRE_TRY(post(x, &x->channel[k]));
    }
    if (x->live == 0) return FIRE_OK;
    return x->s.timeout > 0 ? check_deadline(x) : FIRE_IN_PROGRESS;
}

bool fire_exec_moved(const fire_exec_t *x)
{
    return x->moved;
}

int fire_exec_waits_for(const fire_exec_t *x, int *rank, int most)
{
    int n = 0;

    for (int r = 0; r < x->s.tp->size && n < most; r++)
        for (int64_t k = 0; k < x->nchannel; k++) {
            const fire_channel_t *ch = &x->channel[k];

            if (ch->peer != r || ch->seen == ch->head) continue;
            if (x->s.tp->ops->test(x->s.tp, ch->req[ch->seen % ch->window], NULL) ==
                FIRE_OK)
                continue;
            rank[n++] = r;
            break;
        }
    return n;
}

int64_t fire_exec_bytes(const fire_exec_t *x)
{
    return x->bytes;
}
