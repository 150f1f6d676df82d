/* collective_rounds.c - the executors of all ranks in a simulation: what
 * comm/exec/exec.c does with rounds, blocks and windows, in simulated time. */
#include "comm/exec/exec_state.h"
#include "sim/collective_state.h"

fire_sim_step_t *fire_sim_end(fire_sim_t *s, int64_t message, bool out)
{
    const fire_sim_message_t *m = &s->t.message[message];

    return &s->t.step[out ? m->out : m->in];
}

static bool is_its_round(const fire_sim_t *s, const fire_sim_step_t *st)
{
    return s->t.chain[st->chain].round == st->round;
}

/* Two blocks of a color are open: that of its first unfinished chain, and the next. */
static bool is_open(const fire_sim_t *s, const fire_sim_step_t *st)
{
    const fire_sim_chain_t *chain = &s->t.chain[st->chain];
    const fire_sim_group_t *g     = &s->t.group[chain->group];

    return g->front == g->end || chain->block <= s->t.chain[g->front].block + 1;
}

double fire_sim_work(fire_sim_t *s, int rank, double seconds)
{
    double begin = s->now > s->busy[rank] ? s->now : s->busy[rank];

    if (seconds <= 0) return s->now;
    return s->busy[rank] = begin + s->crowd * seconds;
}

/* Once both ends are posted, the message's latency begins; its bytes flow
 * afterwards. */
static fire_status_t depart_if_ready(fire_sim_t *s, int64_t message)
{
    const fire_sim_message_t *m = &s->t.message[message];

    if (!m->sent || !m->wanted) return FIRE_OK;
    return fire_event_queue_push(&s->events,
                                 (m->leaves > s->now ? m->leaves : s->now) +
                                     s->route[m->pipe].wire->latency,
                                 FIRE_SIM_READY, message);
}

/* Post the sends of a pipe that may be posted now. */
static fire_status_t post_out(fire_sim_t *s, fire_sim_pipe_t *p)
{
    while (p->out_posted < p->end && p->out_posted - p->out_done < p->window &&
           is_its_round(s, fire_sim_end(s, p->out_posted, true)) &&
           is_open(s, fire_sim_end(s, p->out_posted, true))) {
        fire_sim_message_t *m = &s->t.message[p->out_posted];

        m->sent = true;
        m->leaves =
            fire_sim_work(s, s->t.step[m->out].rank, s->route[m->pipe].wire->overhead);
        FIRE_TRY(depart_if_ready(s, p->out_posted++));
    }
    return FIRE_OK;
}

/* A receive that goes straight into the buffer has to wait for its round. */
fire_status_t fire_sim_post_in(fire_sim_t *s, fire_sim_pipe_t *p)
{
    while (p->in_posted < p->end && p->in_posted - p->in_done < p->window) {
        const fire_sim_step_t *st = fire_sim_end(s, p->in_posted, false);

        if (!is_open(s, st) || (st->kind == FIRE_RECV && !is_its_round(s, st))) break;
        s->t.message[p->in_posted].wanted = true;
        FIRE_TRY(depart_if_ready(s, p->in_posted++));
    }
    return FIRE_OK;
}

fire_status_t fire_sim_take(fire_sim_t *s, fire_sim_pipe_t *p)
{
    while (p->in_taken < p->in_posted && s->t.message[p->in_taken].arrived) {
        const fire_sim_step_t  *st    = fire_sim_end(s, p->in_taken, false);
        const fire_sim_route_t *route = &s->route[s->t.message[p->in_taken].pipe];
        double                  cost  = route->wire->overhead;

        if (!is_its_round(s, st)) break;
        if (st->kind == FIRE_RECV_ADD) cost += st->bytes / route->wire->reduce;
        if (st->kind == FIRE_RECV && route->lent)
            cost += st->bytes / route->wire->bandwidth;
        FIRE_TRY(fire_event_queue_push(&s->events, fire_sim_work(s, st->rank, cost),
                                       FIRE_SIM_TAKEN, p->in_taken++));
    }
    return FIRE_OK;
}

/* Enter the next round, and on to the one after if no message is in it. */
static void enter_rounds(fire_sim_t *s, fire_sim_chain_t *chain, int64_t *first_p)
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

/* Post what may be posted of steps first ... end-1. */
static fire_status_t post(fire_sim_t *s, int64_t first, int64_t end)
{
    for (int64_t i = first; i < end; i++) {
        const fire_sim_step_t *st = &s->t.step[i];
        fire_sim_pipe_t       *p;

        if (st->message < 0) continue;
        p = &s->t.pipe[s->t.message[st->message].pipe];
        if (fire_step_is_out(st->kind)) {
            FIRE_TRY(post_out(s, p));
        } else {
            FIRE_TRY(fire_sim_post_in(s, p));
            FIRE_TRY(fire_sim_take(s, p));
        }
    }
    return FIRE_OK;
}

static bool is_done(const fire_sim_chain_t *chain)
{
    return chain->left == 0 && chain->next == chain->end;
}

/* A chain is done. If it was the last of its block, open another block: post its
 * steps. */
static fire_status_t open_block(fire_sim_t *s, fire_sim_group_t *g)
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

fire_status_t fire_sim_advance(fire_sim_t *s, fire_sim_chain_t *chain)
{
    fire_sim_group_t *g = &s->t.group[chain->group];
    int64_t           first;

    if (chain->left > 0) return FIRE_OK;
    enter_rounds(s, chain, &first);
    FIRE_TRY(post(s, first, chain->next));
    return is_done(chain) && g->front < g->end ? open_block(s, g) : FIRE_OK;
}

fire_status_t fire_sim_finish(fire_sim_t *s, int64_t message, bool out)
{
    fire_sim_step_t  *st    = fire_sim_end(s, message, out);
    fire_sim_pipe_t  *p     = &s->t.pipe[s->t.message[message].pipe];
    fire_sim_chain_t *chain = &s->t.chain[st->chain];

    chain->left--;
    ++*(out ? &p->out_done : &p->in_done);
    FIRE_TRY(fire_sim_advance(s, chain));
    FIRE_TRY(out ? post_out(s, p) : fire_sim_post_in(s, p));
    return out ? FIRE_OK : fire_sim_take(s, p);
}
