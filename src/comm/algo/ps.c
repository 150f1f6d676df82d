/* ps.c - parameter server: every rank sends to the root, which adds in rank order and
 * sends the sum back. FireCaffe's baseline.
 *   messages: P-1 each way at the root   rounds at the root: P+1   any P
 *   order fixed, not canonical                                           */
#include "comm/algo/cost.h"

/* The root's steps: one addition per round, because all go to the same span. */
static fire_status_t server(const fire_coll_t *c, fire_sched_t *out)
{
    int round = 0;

    for (int i = 1; i < c->size; i++)
        FIRE_TRY(fire_sched_add(out, c, round++, FIRE_RECV_ADD, (c->root + i) % c->size,
                                c->span));
    FIRE_TRY(fire_sched_add(out, c, round++, FIRE_FINAL, c->rank, c->span));
    if (c->op == FIRE_REDUCE) return FIRE_OK;
    for (int i = 1; i < c->size; i++)
        FIRE_TRY(
            fire_sched_add(out, c, round, FIRE_SEND, (c->root + i) % c->size, c->span));
    return FIRE_OK;
}

static fire_status_t ps_plan(const fire_coll_t *c, fire_sched_t *out)
{
    if (c->rank == c->root) return server(c, out);
    FIRE_TRY(fire_sched_add(out, c, 0, FIRE_SEND, c->root, c->span));
    if (c->op == FIRE_REDUCE) return FIRE_OK;
    return fire_sched_add(out, c, 1, FIRE_RECV, c->root, c->span);
}

static int others(int size)
{
    return size - 1;
}

/* Few: all chains that have begun wait in the buffer of the root's switch port. */
static int begun(int size)
{
    return size > 1 ? 2 : 1;
}

static double ps_cost(const fire_coll_t *c, const fire_machine_t *m)
{
    fire_cost_t k = fire_cost_of(c, m, 1);

    return (k.chains + 1) * (c->size - 1) * (k.message + k.add);
}

const fire_algo_t fire_algo_ps = {
    .name   = "ps",
    .flags  = FIRE_ALGO_DETERMINISTIC | FIRE_ALGO_ONE_HOP,
    .ops    = 1 << FIRE_ALLREDUCE | 1 << FIRE_REDUCE,
    .chains = 128,
    .fan    = others,
    .begun  = begun,
    .plan   = ps_plan,
    .cost   = ps_cost,
};
