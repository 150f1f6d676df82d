/* proof_run.c - runs schedules on symbols, by the executor's rules (comm/exec/exec.c)
 * made as strict as possible: a message moves only if both of its ends are in their
 * round, and the messages of a channel move one at a time. What works here needs no
 * buffering. */
#include "comm/pattern/roots.h"
#include "proof_world.h"
#include "test.h"

static const char *store(proof_world_t *w, int r, int slot, int k, int value)
{
    if (value < 0)
        return proof_wrong(w, "rank %d adds a contribution twice at element %zu", r,
                           w->cut[k]);
    w->at[r][slot][k] = value;
    return NULL;
}

static void run_merge(proof_world_t *w, int r, const fire_step_t *st)
{
    FOR_SEGMENTS(w, k, st->span)
    {
        int *to = &w->at[r][st->slot][k];

        (void)store(w, r, st->slot, k, proof_add(w, *to, w->at[r][st->peer][k]));
    }
}

static void enter_rounds(proof_world_t *w, int r, proof_chain_t *chain)
{
    const fire_sched_t *s = &w->sched[r];

    while (chain->left == 0 && chain->next < chain->end) {
        int64_t i = chain->next;

        chain->round = s->step[i].round;
        chain->holds = 0;
        for (; i < chain->end && s->step[i].round == chain->round; i++) {
            chain->left += !fire_step_is_local(s->step[i].kind);
            chain->holds += fire_step_is_held(s->step[i].kind);
            if (s->step[i].kind == FIRE_SUM) chain->sum = i;
            if (s->step[i].kind == FIRE_MERGE) run_merge(w, r, &s->step[i]);
        }
        chain->next = i;
    }
}

static void finish(proof_world_t *w, int r, int64_t step)
{
    proof_chain_t *chain = &w->chain[r][w->chain_of[r][step]];

    w->done++;
    if (--chain->left == 0) enter_rounds(w, r, chain);
}

/* The value that message m brings in segment k. */
static int *sent(proof_world_t *w, int64_t m, int k)
{
    int from = w->out[m].from;

    return &w->at[from][w->sched[from].step[w->out[m].step].slot][k];
}

/* The SUM of rank r's chain: what was held is added and, if lent, returned. */
static const char *run_sum(proof_world_t *w, int r, proof_chain_t *chain)
{
    const fire_step_t *st = &w->sched[r].step[chain->sum];
    int                n = 0, own = w->sched[r].slots, part[PROOF_RANKS * 2];
    int64_t            first = chain->sum;

    while (first > chain->first &&
           fire_step_is_held(w->sched[r].step[first - 1].kind) &&
           w->sched[r].step[first - 1].round == st->round)
        first--;
    FOR_SEGMENTS(w, k, st->span)
    {
        int sum;

        n = 0;
        for (int64_t h = first; h <= chain->sum; h++) {
            for (int i = 0; n == st->peer + i && i < own; i++)
                part[n++] = w->at[r][fire_root_slot(i, own)][k];
            if (h < chain->sum) part[n++] = *sent(w, w->held[r][h], k);
        }
        sum = w->c->lane != NULL ? proof_subtrees(w, part, w->sched[r].operand, n)
                                 : proof_canonical(w, part, n);
        if (store(w, r, 0, k, sum) != NULL) return w->why;
        for (int64_t h = first; h < chain->sum; h++)
            if (w->sched[r].step[h].kind == FIRE_BORROW)
                *sent(w, w->held[r][h], k) = sum;
    }
    for (int64_t h = first; h < chain->sum; h++) {
        const proof_message_t *m = &w->out[w->held[r][h]];

        finish(w, m->from, m->step);
        finish(w, r, h);
    }
    return NULL;
}

static const char *move(proof_world_t *w, int64_t m)
{
    const proof_message_t *a = &w->out[m], *b = &w->in[m];
    const fire_step_t     *d     = &w->sched[a->to].step[b->step];
    proof_chain_t         *chain = &w->chain[a->to][w->chain_of[a->to][b->step]];

    w->moved[m] = true;
    if (fire_step_is_held(d->kind)) {
        w->held[a->to][b->step] = (int)m;
        return --chain->holds == 0 ? run_sum(w, a->to, chain) : NULL;
    }
    FOR_SEGMENTS(w, k, d->span)
    {
        int got = *sent(w, m, k);

        if (d->kind == FIRE_RECV_ADD) got = proof_add(w, w->at[a->to][d->slot][k], got);
        if (store(w, a->to, d->slot, k, got) != NULL) return w->why;
    }
    finish(w, a->from, a->step);
    finish(w, a->to, b->step);
    return NULL;
}

/* A chain begins when all chains two blocks before have ended. */
static bool is_open(proof_world_t *w, int r, const proof_message_t *m)
{
    int *front = &w->front[r][m->color];

    for (; *front < w->nchain[r]; (*front)++) {
        const proof_chain_t *chain = &w->chain[r][*front];
        const fire_step_t   *st    = &w->sched[r].step[chain->first];

        if (st->color > m->color) break;
        if (st->color == m->color && (chain->left > 0 || chain->next < chain->end))
            return proof_block_of(w, st) >= m->block - 1;
    }
    return true;
}

static bool is_ready(proof_world_t *w, int64_t m)
{
    const proof_message_t *a = &w->out[m], *b = &w->in[m], *before = a - 1;

    if (w->moved[m]) return false;
    if (m > 0 && before->from == a->from && before->to == a->to &&
        before->color == a->color && !w->moved[m - 1])
        return false;
    return w->chain[a->from][w->chain_of[a->from][a->step]].round == a->round &&
           w->chain[a->to][w->chain_of[a->to][b->step]].round == b->round &&
           is_open(w, a->from, a) && is_open(w, a->to, b);
}

const char *proof_run(proof_world_t *w)
{
    bool going = true;

    for (int r = 0; r < w->c->size; r++)
        for (int l = 0; l < w->nchain[r]; l++)
            enter_rounds(w, r, &w->chain[r][l]);
    while (going) {
        going = false;
        for (int64_t m = 0; m < w->nout; m++) {
            if (!is_ready(w, m)) continue;
            if (move(w, m) != NULL) return w->why;
            going = true;
        }
    }
    if (w->why[0] != '\0') return w->why; /* a merge */
    if (w->done != 2 * w->nout)
        return proof_wrong(w, "deadlock: %d of %d messages moved", (int)w->done / 2,
                           (int)w->nout);
    return NULL;
}
