/* collective.c - runs a collective in simulated time. A message between two ranks:
 *
 *   both ends posted --latency--> READY --its pipe's flow carries it--> THROUGH
 *       --the receiver's core copies or adds it--> TAKEN
 *       --HOLD, BORROW: the last operand has come, the core adds all--> SUMMED
 *
 * Events at one moment are handled together; then the network's shares are computed
 * anew and the times of THROUGH events change with them. */
#include "sim/collective.h"

#include <float.h>
#include <math.h>

#include "base/alloc.h"
#include "comm/exec/exec_state.h"
#include "sim/collective_state.h"

/* Relative: events closer than this are simultaneous, they differ by rounding only. */
static const double SAME = 1e-9;
/* A message is through if less than this is missing, in bytes: rounding again. */
static const double BYTE = 1e-3;

/* All bytes are at the receiver. A zero-copy send stays open until the receiver is
 * done. */
static fire_status_t arrive(fire_sim_t *s, int64_t message)
{
    fire_sim_message_t *m = &s->t.message[message];

    m->arrived = true;
    if (s->t.step[m->out].kind != FIRE_LEND)
        FIRE_TRY(fire_sim_finish(s, message, true));
    return fire_sim_take(s, &s->t.pipe[m->pipe]);
}

/* Let ready messages flow: one at a time per pipe, or all (`mingle`). Zero-copy and
 * empty messages arrive without flowing. */
static fire_status_t begin(fire_sim_t *s, fire_sim_pipe_t *p)
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

static fire_status_t on_ready(fire_sim_t *s, int64_t message)
{
    fire_sim_pipe_t *p = &s->t.pipe[s->t.message[message].pipe];

    p->ready++;
    return begin(s, p);
}

/* Bytes that the pipe's flow will have given to each message when the next one is
 * through. */
static double next_until(const fire_sim_t *s, const fire_sim_pipe_t *p)
{
    double next = DBL_MAX;

    for (int64_t i = p->passed; i < p->begun; i++)
        if (!s->t.message[i].arrived && s->t.message[i].until < next)
            next = s->t.message[i].until;
    return next;
}

/* Queue the event of the pipe's next message being through, by its present rate. An
 * event queued before with another time is ignored when it comes. */
static fire_status_t foresee(fire_sim_t *s, int64_t pipe)
{
    const fire_flow_t *st = &s->flows.flow[pipe];
    fire_sim_pipe_t   *p  = &s->t.pipe[pipe];
    double             due;

    if (st->active == 0) return FIRE_OK;
    due = s->now + (next_until(s, p) - st->given) / st->rate;
    if (fabs(due - p->due) <= SAME * due) return FIRE_OK;
    p->due = due;
    return fire_event_queue_push(&s->events, due, FIRE_SIM_THROUGH, pipe);
}

static fire_status_t on_through(fire_sim_t *s, int64_t pipe)
{
    fire_sim_pipe_t *p = &s->t.pipe[pipe];
    double           given;

    if (p->due != s->event_time) return FIRE_OK; /* out of date */
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

/* A HOLD or BORROW waits for the last operand of its SUM; then all are added in one
 * pass. */
static fire_status_t on_taken(fire_sim_t *s, int64_t message)
{
    const fire_sim_step_t *st    = fire_sim_end(s, message, false);
    fire_sim_chain_t      *chain = &s->t.chain[st->chain];
    int64_t                n;
    double                 cost;

    if (!fire_step_is_held(st->kind)) return fire_sim_finish(s, message, false);
    if (--chain->holds > 0) return FIRE_OK;
    for (n = 0; fire_step_is_held(s->t.step[chain->sum - n - 1].kind);)
        n++;
    cost = (double)n * s->t.step[chain->sum].bytes /
           s->route[s->t.message[message].pipe].wire->reduce;
    return fire_event_queue_push(&s->events, fire_sim_work(s, st->rank, cost),
                                 FIRE_SIM_SUMMED, chain->sum);
}

/* The operands of a SUM are added: both ends of zero-copy messages end now. */
static fire_status_t on_summed(fire_sim_t *s, int64_t sum)
{
    for (int64_t i = sum - 1; i >= 0 && fire_step_is_held(s->t.step[i].kind) &&
                              s->t.step[i].chain == s->t.step[sum].chain;
         i--) {
        int64_t message = s->t.step[i].message;

        if (s->t.step[i].kind == FIRE_BORROW)
            FIRE_TRY(fire_sim_finish(s, message, true));
        FIRE_TRY(fire_sim_finish(s, message, false));
    }
    return FIRE_OK;
}

/* Handle all events of one moment, then share the network anew and foresee what
 * follows. */
static fire_status_t run_moment(fire_sim_t *s, fire_event_t *e)
{
    static fire_status_t (*const handle[])(fire_sim_t *, int64_t) = {
        on_ready, on_through, on_taken, on_summed};

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

static fire_status_t run(fire_sim_t *s)
{
    fire_event_t e;

    for (int64_t i = 0; i < s->t.npipe; i++)
        FIRE_TRY(fire_sim_post_in(s, &s->t.pipe[i]));
    for (int64_t i = 0; i < s->t.nchain; i++)
        FIRE_TRY(fire_sim_advance(s, &s->t.chain[i]));
    while (fire_event_queue_pop(&s->events, DBL_MAX, &e))
        FIRE_TRY(run_moment(s, &e));
    for (int64_t i = 0; i < s->t.npipe; i++)
        if (s->t.pipe[i].in_done < s->t.pipe[i].end)
            return FIRE_FAIL(FIRE_ERR_COMM, "ranks %d and %d wait for each other",
                             fire_sim_end(s, s->t.pipe[i].in_done, true)->rank,
                             fire_sim_end(s, s->t.pipe[i].in_done, false)->rank);
    return FIRE_OK;
}

/* Bytes and messages of the rank that sends most; steps are listed rank by rank. */
static fire_price_t account(const fire_sim_t *s)
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

/* Add a flow for each pipe. First pass: count hops; second: add. */
static fire_status_t add_flows(fire_sim_t *s, const fire_network_t *net)
{
    fire_path_t path;
    int64_t     nhop = 0;

    for (int pass = 0; pass < 2; pass++) {
        for (int64_t i = 0; i < s->t.npipe; i++) {
            int64_t first = s->t.pipe[i].first;

            fire_network_path(net, fire_sim_end(s, first, true)->rank,
                              fire_sim_end(s, first, false)->rank, &path);
            nhop += path.n;
            if (pass == 0) continue;
            s->route[i] = (fire_sim_route_t){path.wire, path.lent};
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
    fire_sim_t     s = {.crowd  = fire_cluster_crowd(cluster, c->size),
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
