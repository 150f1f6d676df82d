/* exec.c - the executor's state machine. advance() visits every channel and does what
 * is possible there; a message goes through these states:
 *
 *   waiting
 *      | post():   its chain's block is open, the window has room,
 *      |           its round has come (*)
 *   in flight
 *      |           the transport moves it
 *   arrived
 *      | take():   its round has come; RECV is copied, RECV_ADD is added,
 *      |           HOLD and BORROW are kept for the SUM
 *   released
 *
 * (*) Messages that do not go straight into the buffer are received ahead of their
 * round and applied when it comes. So additions happen in the schedule's order, never
 * in the order of arrival, and results do not depend on timing.
 *
 * When the last message of a round is done, the chain enters its next round: finish(),
 * enter_rounds(). */
#include "comm/exec/exec.h"

#include <string.h>

#include "base/clock.h"
#include "comm/exec/exec_state.h"
#include "comm/exec/reduce.h"

/* Where the step's span is in the buffer. */
static float *place_of(const fire_exec_t *x, const fire_step_t *st)
{
    return x->s.buf + (size_t)st->slot * x->s.stride + st->span.off;
}

/* The channel's memory for its k-th message. */
static char *slot(const fire_channel_t *ch, int64_t k)
{
    return ch->memory + (size_t)(k % ch->window) * ch->stride;
}

static void release_oldest(fire_exec_t *x, fire_channel_t *ch)
{
    x->s.tp->ops->release(x->s.tp, ch->req[ch->tail++ % ch->window]);
}

/* The SUM at step i: all operands have arrived. Add them up in canonical order, into
 * the own span and into all borrowed ones, then release the messages. */
static void run_sum(fire_exec_t *x, int64_t i)
{
    const fire_step_t *st = fire_exec_step(x, i);
    int                n = fire_exec_holds(x, i), own = x->s.sched->slots, ndst = 1;

    x->dst[0] = place_of(x, st);
    for (int k = 0; k < own; k++)
        x->src[st->peer + k] = x->dst[0] + (size_t)fire_root_slot(k, own) * x->s.stride;
    for (int k = 0; k < n; k++) {
        int64_t h = i - n + k;

        x->src[k < st->peer ? k : k + own] = x->held[h];
        if (fire_exec_step(x, h)->kind == FIRE_BORROW) x->dst[ndst++] = x->held[h];
    }
    fire_sum_all(x->dst, ndst, x->src, n + own, x->s.sched->operand, st->span.len);
    for (int64_t h = i - n; h < i; h++)
        release_oldest(x, &x->channel[x->channel_of[h]]);
}

static void run_merge(const fire_exec_t *x, const fire_step_t *st)
{
    float       *to   = place_of(x, st);
    const float *from = x->s.buf + (size_t)st->peer * x->s.stride + st->span.off;

    fire_sum_pair(to, to, from, st->span.len);
}

/* Quantize a complete sum to what the codec can represent. With error feedback, add
 * what the last iteration lost before, and keep what is lost now:
 *     rest += sum;  sum = quantize(rest);  rest -= sum */
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

/* Is the first chain of the color that counted as unfinished done now? */
static bool is_front_done(const fire_exec_t *x, int color)
{
    const fire_chain_t *front = &x->chain[x->front[color]];

    return x->front[color] < x->nchain && front->color == color && front->left == 0 &&
           front->next == front->end;
}

/* May the chain of step i begin? Two blocks of a color are open, see
 * fire_sched_block(). */
static bool is_open(const fire_exec_t *x, int64_t i)
{
    const fire_chain_t *chain = &x->chain[x->chain_of[i]];

    return chain->block <= x->chain[x->front[chain->color]].block + 1;
}

/* Enter the next round, and on to the one after if no message is in it. At the end of
 * the chain move the color's front. */
static void enter_rounds(fire_exec_t *x, fire_chain_t *chain)
{
    while (chain->left == 0 && chain->next < chain->end) {
        chain->round = fire_exec_step(x, chain->next)->round;
        for (; chain->next < chain->end; chain->next++) {
            const fire_step_t *st = fire_exec_step(x, chain->next);

            if (st->round != chain->round) break;
            if (!fire_step_is_local(st->kind)) chain->left++;
            if (st->kind == FIRE_FINAL) run_final(x, st);
            if (st->kind == FIRE_MERGE) run_merge(x, st);
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

/* `nstep` messages of the chain's round are done. */
static void finish(fire_exec_t *x, fire_chain_t *chain, int nstep)
{
    chain->left -= nstep;
    if (chain->left == 0) enter_rounds(x, chain);
}

static bool is_its_round(const fire_exec_t *x, int64_t i)
{
    return x->chain[x->chain_of[i]].round == fire_exec_step(x, i)->round;
}

/* Is the message received into other memory than the buffer, and applied later? */
static bool is_beside(const fire_exec_t *x, const fire_channel_t *ch,
                      const fire_step_t *st)
{
    return ch->lent || x->s.codec != NULL || st->kind != FIRE_RECV;
}

/* Bytes that a library's allreduce sends. It does not tell; count the least that is
 * possible, 2 (P-1)/P of the buffer. */
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

/* Post messages of the channel as far as window, block and round allow. */
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

/* Copy, add or keep an arrived message, by the kind of step i. */
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
    default: /* HOLD, BORROW */
        x->held[i] = got->data;
        if (codec == NULL) return FIRE_OK;
        x->held[i] = slot(ch, ch->seen) + ch->floats;
        return codec->decode(got->data, got->len, x->held[i], n);
    }
}

/* The transport is done with a message and its round has come. */
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

/* Take finished messages of the channel, oldest first. */
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

/* NATIVE steps are posted in start(): a library matches its calls by their order, and
 * only start() is called in the same order on all ranks. Their channel leads to the own
 * rank. */
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
    return x->s.timeout > 0 ? fire_exec_check_deadline(x) : FIRE_IN_PROGRESS;
}

bool fire_exec_moved(const fire_exec_t *x)
{
    return x->moved;
}

int64_t fire_exec_bytes(const fire_exec_t *x)
{
    return x->bytes;
}
