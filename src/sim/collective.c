#include "sim/collective.h"

#include <float.h>
#include <math.h>

#include "base/alloc.h"
#include "comm/exec/exec_state.h"
#include "sim/event_queue.h"
#include "sim/flow.h"
#include "sim/traffic.h"

/* What can happen: a message may begin to flow, the next one of a pipe is through, a
 * rank has dealt with what it received, or with all that a SUM adds. */
typedef enum event_kind { READY, THROUGH, TAKEN, SUMMED } event_kind_t;

/* What happens within this part of the present is simultaneous: rounding. */
static const double SAME = 1e-9;
/* Rounding again: what is missing of a message that is through. */
static const double BYTE = 1e-3;

typedef struct route {
    const fire_wire_t *wire;
    bool               lent;
} route_t;

typedef struct sim {
    fire_traffic_t     t;
    fire_flows_t       flows; /* a flow a pipe */
    route_t           *route; /* likewise */
    fire_event_queue_t events;
    bool               mingle;
    double            *busy;  /* [rank] until when it handles and adds messages */
    double             crowd; /* times as long as on cores of its own */
    double             now, event_time;
} sim_t;

static fire_sim_step_t *end_of(sim_t *s, int64_t message, bool out)
{
    const fire_sim_message_t *m = &s->t.message[message];

    return &s->t.step[out ? m->out : m->in];
}

static bool is_its_round(const sim_t *s, const fire_sim_step_t *st)
{
    return s->t.chain[st->chain].round == st->round;
}

/* Chains open in blocks: the one that the first unfinished chain is in, and the next. */
static bool is_open(const sim_t *s, const fire_sim_step_t *st)
{
    const fire_sim_chain_t *chain = &s->t.chain[st->chain];
    const fire_sim_group_t *g     = &s->t.group[chain->group];

    return g->front == g->end || chain->block <= s->t.chain[g->front].block + 1;
}

/* Keep the rank busy for so long; returns until when. */
static double work(sim_t *s, int rank, double seconds)
{
    double begin = s->now > s->busy[rank] ? s->now : s->busy[rank];

    if (seconds <= 0) return s->now;
    return s->busy[rank] = begin + s->crowd * seconds;
}

/* Latency first, then bytes. */
static fire_status_t depart_if_ready(sim_t *s, int64_t message)
{
    const fire_sim_message_t *m = &s->t.message[message];

    if (!m->sent || !m->wanted) return FIRE_OK;
    return fire_event_queue_push(&s->events,
                                 (m->leaves > s->now ? m->leaves : s->now) +
                                     s->route[m->pipe].wire->latency,
                                 READY, message);
}

static fire_status_t post_out(sim_t *s, fire_sim_pipe_t *p)
{
    while (p->out_posted < p->end && p->out_posted - p->out_done < p->window &&
           is_its_round(s, end_of(s, p->out_posted, true)) &&
           is_open(s, end_of(s, p->out_posted, true))) {
        fire_sim_message_t *m = &s->t.message[p->out_posted];

        m->sent   = true;
        m->leaves = work(s, s->t.step[m->out].rank, s->route[m->pipe].wire->overhead);
        FIRE_TRY(depart_if_ready(s, p->out_posted++));
    }
    return FIRE_OK;
}

/* What goes straight into the buffer has to wait for its round. */
static fire_status_t post_in(sim_t *s, fire_sim_pipe_t *p)
{
    while (p->in_posted < p->end && p->in_posted - p->in_done < p->window) {
        const fire_sim_step_t *st = end_of(s, p->in_posted, false);

        if (!is_open(s, st) || (st->kind == FIRE_RECV && !is_its_round(s, st))) break;
        s->t.message[p->in_posted].wanted = true;
        FIRE_TRY(depart_if_ready(s, p->in_posted++));
    }
    return FIRE_OK;
}

static fire_status_t take(sim_t *s, fire_sim_pipe_t *p)
{
    while (p->in_taken < p->in_posted && s->t.message[p->in_taken].arrived) {
        const fire_sim_step_t *st    = end_of(s, p->in_taken, false);
        const route_t         *route = &s->route[s->t.message[p->in_taken].pipe];
        double                 cost  = route->wire->overhead;

        if (!is_its_round(s, st)) break;
        if (st->kind == FIRE_RECV_ADD) cost += st->bytes / route->wire->reduce;
        if (st->kind == FIRE_RECV && route->lent)
            cost += st->bytes / route->wire->bandwidth;
        FIRE_TRY(fire_event_queue_push(&s->events, work(s, st->rank, cost), TAKEN,
                                       p->in_taken++));
    }
    return FIRE_OK;
}

/* Enter rounds until one has something to wait for. */
static void enter_rounds(sim_t *s, fire_sim_chain_t *chain, int64_t *first_p)
{
    *first_p = chain->next;
    while (chain->left == 0 && chain->next < chain->end) {
        *first_p     = chain->next;
        chain->round = s->t.step[chain->next].round;
        chain->holds = 0;
        for (; chain->next < chain->end && s->t.step[chain->next].round == chain->round;
             chain->next++) {
            const fire_sim_step_t *st = &s->t.step[chain->next];

            chain->left += st->message >= 0;
            chain->holds += fire_step_is_held(st->kind);
            if (st->kind == FIRE_SUM) chain->sum = chain->next;
        }
    }
}

/* Start what may be started of steps first ... end-1. */
static fire_status_t post(sim_t *s, int64_t first, int64_t end)
{
    for (int64_t i = first; i < end; i++) {
        const fire_sim_step_t *st = &s->t.step[i];
        fire_sim_pipe_t       *p;

        if (st->message < 0) continue;
        p = &s->t.pipe[s->t.message[st->message].pipe];
        if (fire_step_is_out(st->kind)) {
            FIRE_TRY(post_out(s, p));
        } else {
            FIRE_TRY(post_in(s, p));
            FIRE_TRY(take(s, p));
        }
    }
    return FIRE_OK;
}

static bool is_done(const fire_sim_chain_t *chain)
{
    return chain->left == 0 && chain->next == chain->end;
}

/* A chain is done: if it was the last of its block, another block opens. */
static fire_status_t open_block(sim_t *s, fire_sim_group_t *g)
{
    int before = s->t.chain[g->front].block;

    while (g->front < g->end && is_done(&s->t.chain[g->front]))
        g->front++;
    if (g->front == g->end || s->t.chain[g->front].block == before) return FIRE_OK;
    for (int64_t i = g->front; i < g->end; i++) {
        if (s->t.chain[i].block > s->t.chain[g->front].block + 1) break;
        FIRE_TRY(post(s, s->t.chain[i].first, s->t.chain[i].end));
    }
    return FIRE_OK;
}

static fire_status_t advance(sim_t *s, fire_sim_chain_t *chain)
{
    fire_sim_group_t *g = &s->t.group[chain->group];
    int64_t           first;

    if (chain->left > 0) return FIRE_OK;
    enter_rounds(s, chain, &first);
    FIRE_TRY(post(s, first, chain->next));
    return is_done(chain) && g->front < g->end ? open_block(s, g) : FIRE_OK;
}

/* One end of a message is done with. */
static fire_status_t finish(sim_t *s, int64_t message, bool out)
{
    fire_sim_step_t  *st    = end_of(s, message, out);
    fire_sim_pipe_t  *p     = &s->t.pipe[s->t.message[message].pipe];
    fire_sim_chain_t *chain = &s->t.chain[st->chain];

    chain->left--;
    ++*(out ? &p->out_done : &p->in_done);
    FIRE_TRY(advance(s, chain));
    FIRE_TRY(out ? post_out(s, p) : post_in(s, p));
    return out ? FIRE_OK : take(s, p);
}

static fire_status_t arrive(sim_t *s, int64_t message)
{
    fire_sim_message_t *m = &s->t.message[message];

    m->arrived = true;
    if (s->t.step[m->out].kind != FIRE_LEND) FIRE_TRY(finish(s, message, true));
    return take(s, &s->t.pipe[m->pipe]);
}

/* What is lent does not flow. Else messages follow each other, or mingle. */
static fire_status_t begin(sim_t *s, fire_sim_pipe_t *p)
{
    int pipe = (int)(p - s->t.pipe);

    while (p->begun < p->ready && (s->mingle || p->passed == p->begun)) {
        fire_sim_message_t *m     = &s->t.message[p->begun++];
        double              bytes = s->t.step[m->out].bytes;

        if (s->route[pipe].lent || bytes == 0) {
            p->passed++;
            FIRE_TRY(arrive(s, p->begun - 1));
            continue;
        }
        m->until = fire_flows_given(&s->flows.flow[pipe], s->now) + bytes;
        fire_flows_join(&s->flows, pipe);
    }
    return FIRE_OK;
}

static fire_status_t on_ready(sim_t *s, int64_t message)
{
    fire_sim_pipe_t *p = &s->t.pipe[s->t.message[message].pipe];

    p->ready++;
    return begin(s, p);
}

/* What a pipe's flow will have given when the next message is through. */
static double next_until(const sim_t *s, const fire_sim_pipe_t *p)
{
    double next = DBL_MAX;

    for (int64_t i = p->passed; i < p->begun; i++)
        if (!s->t.message[i].arrived && s->t.message[i].until < next)
            next = s->t.message[i].until;
    return next;
}

static fire_status_t foresee(sim_t *s, int64_t pipe)
{
    const fire_flow_t *st = &s->flows.flow[pipe];
    fire_sim_pipe_t   *p  = &s->t.pipe[pipe];
    double             due;

    if (st->active == 0) return FIRE_OK;
    due = s->now + (next_until(s, p) - st->given) / st->rate;
    if (fabs(due - p->due) <= SAME * due) return FIRE_OK;
    p->due = due;
    return fire_event_queue_push(&s->events, due, THROUGH, pipe);
}

static fire_status_t on_through(sim_t *s, int64_t pipe)
{
    fire_sim_pipe_t *p = &s->t.pipe[pipe];
    double           given;

    if (p->due != s->event_time) return FIRE_OK; /* it was foreseen anew */
    p->due = 0;
    given  = next_until(s, p) + BYTE;
    for (int64_t i = p->passed; i < p->begun; i++) {
        if (s->t.message[i].arrived || s->t.message[i].until > given) continue;
        fire_flows_leave(&s->flows, (int)pipe);
        FIRE_TRY(arrive(s, i));
    }
    while (p->passed < p->begun && s->t.message[p->passed].arrived)
        p->passed++;
    return begin(s, p);
}

/* Held messages wait for the last of their round, then are added in one pass. */
static fire_status_t on_taken(sim_t *s, int64_t message)
{
    const fire_sim_step_t *st    = end_of(s, message, false);
    fire_sim_chain_t      *chain = &s->t.chain[st->chain];
    int64_t                n;
    double                 cost;

    if (!fire_step_is_held(st->kind)) return finish(s, message, false);
    if (--chain->holds > 0) return FIRE_OK;
    for (n = 0; fire_step_is_held(s->t.step[chain->sum - n - 1].kind);)
        n++;
    cost = (double)n * s->t.step[chain->sum].bytes /
           s->route[s->t.message[message].pipe].wire->reduce;
    return fire_event_queue_push(&s->events, work(s, st->rank, cost), SUMMED,
                                 chain->sum);
}

/* What was borrowed is given back: the lender's step ends now. */
static fire_status_t on_summed(sim_t *s, int64_t sum)
{
    for (int64_t i = sum - 1; i >= 0 && fire_step_is_held(s->t.step[i].kind) &&
                              s->t.step[i].chain == s->t.step[sum].chain;
         i--) {
        int64_t message = s->t.step[i].message;

        if (s->t.step[i].kind == FIRE_BORROW) FIRE_TRY(finish(s, message, true));
        FIRE_TRY(finish(s, message, false));
    }
    return FIRE_OK;
}

/* All that happens at one moment, then what changes by it. */
static fire_status_t run_moment(sim_t *s, fire_event_t *e)
{
    static fire_status_t (*const handle[])(sim_t *, int64_t) = {on_ready, on_through,
                                                                on_taken, on_summed};

    s->now = e->time;
    do {
        s->event_time = e->time;
        FIRE_TRY(handle[e->kind](s, e->what));
    } while (fire_event_queue_pop(&s->events, s->now * (1 + SAME), e));
    fire_flows_settle(&s->flows, s->now);
    for (int i = 0; i < s->flows.nmember; i++)
        FIRE_TRY(foresee(s, s->flows.member[i]));
    fire_flows_forget(&s->flows);
    return FIRE_OK;
}

static fire_status_t run(sim_t *s)
{
    fire_event_t e;

    for (int64_t i = 0; i < s->t.npipe; i++)
        FIRE_TRY(post_in(s, &s->t.pipe[i]));
    for (int64_t i = 0; i < s->t.nchain; i++)
        FIRE_TRY(advance(s, &s->t.chain[i]));
    while (fire_event_queue_pop(&s->events, DBL_MAX, &e))
        FIRE_TRY(run_moment(s, &e));
    for (int64_t i = 0; i < s->t.npipe; i++)
        if (s->t.pipe[i].in_done < s->t.pipe[i].end)
            return FIRE_FAIL(FIRE_ERR_COMM, "ranks %d and %d wait for each other",
                             end_of(s, s->t.pipe[i].in_done, true)->rank,
                             end_of(s, s->t.pipe[i].in_done, false)->rank);
    return FIRE_OK;
}

/* The rank that sends most; steps lie rank by rank. */
static fire_price_t account(const sim_t *s)
{
    fire_price_t price = {.seconds = s->now};
    double       bytes = 0, messages = 0;

    for (int64_t i = 0; i < s->t.nstep; i++) {
        if (i > 0 && s->t.step[i].rank != s->t.step[i - 1].rank) bytes = messages = 0;
        if (!fire_step_is_out(s->t.step[i].kind)) continue;
        bytes += s->t.step[i].bytes;
        messages++;
        if (bytes > price.bytes) price.bytes = bytes;
        if (messages > price.messages) price.messages = messages;
    }
    return price;
}

/* A flow for each pipe. */
static fire_status_t add_flows(sim_t *s, const fire_network_t *net)
{
    fire_path_t path;
    int64_t     nhop = 0;

    for (int pass = 0; pass < 2; pass++) {
        for (int64_t i = 0; i < s->t.npipe; i++) {
            int64_t first = s->t.pipe[i].first;

            fire_network_path(net, end_of(s, first, true)->rank,
                              end_of(s, first, false)->rank, &path);
            nhop += path.n;
            if (pass == 0) continue;
            s->route[i] = (route_t){path.wire, path.lent};
            fire_flows_add(&s->flows, &path);
        }
        if (pass == 0) FIRE_TRY(fire_flows_init(&s->flows, net, s->t.npipe, nhop));
    }
    return FIRE_OK;
}

fire_status_t fire_simulate(const fire_cluster_t *cluster, const fire_algo_t *algo,
                            const fire_coll_t *c, const fire_codec_t *codec,
                            fire_price_t *price_p)
{
    sim_t          s = {.crowd  = fire_cluster_crowd(cluster, c->size),
                        .mingle = cluster->mingle};
    fire_network_t net;
    fire_status_t  st;

    if (algo->flags & FIRE_ALGO_NATIVE)
        return FIRE_FAIL(FIRE_ERR_UNSUPPORTED,
                         "what the library behind %s does is not known here",
                         algo->name);
    FIRE_TRY(fire_network_init(&net, cluster, c->size));
    st = fire_traffic_plan(algo, c, codec, cluster->mingle, &s.t);
    if (st >= 0) st = FIRE_NEW(&s.busy, c->size);
    if (st >= 0) st = FIRE_NEW(&s.route, s.t.npipe);
    if (st >= 0) st = add_flows(&s, &net);
    if (st >= 0) st = run(&s);
    if (st >= 0) *price_p = account(&s);
    fire_free(s.busy);
    fire_free(s.route);
    fire_event_queue_fini(&s.events);
    fire_flows_fini(&s.flows);
    fire_traffic_fini(&s.t);
    fire_network_fini(&net);
    return st;
}
