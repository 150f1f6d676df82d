/* onesided.c - zero-copy exchange inside a node: each rank sums one part directly from
 * the buffers of all ranks and writes the result directly into all of them.
 *   rounds 1   memory traffic per rank: reads n, writes n   any P   canonical
 * Between nodes, and where buffers cannot be accessed, its plan is hier's. */
#include <math.h>

#include "comm/algo/cost.h"
#include "comm/algo/direct.h"

extern const fire_algo_t fire_algo_hier;

static bool all_reachable(const fire_coll_t *c)
{
    return c->lend && fire_coll_on_one_node(c);
}

static fire_status_t onesided_plan(const fire_coll_t *c, fire_sched_t *out)
{
    return all_reachable(c) ? fire_plan_lend(c, out) : fire_algo_hier.plan(c, out);
}

/* One pass over memory that adds; stores hit lines that are still in the cache.
 * INFINITY where the plan is hier's: "auto" then chooses hier itself. */
static double onesided_cost(const fire_coll_t *c, const fire_machine_t *m)
{
    fire_cost_t k     = fire_cost_of(c, m, c->size);
    double      bytes = (double)c->span.len * sizeof(float);

    if (!all_reachable(c)) return INFINITY;
    return k.chains * 2 * (c->size - 1) * m->node.alpha +
           bytes * (m->node.gamma + m->node.beta / 2);
}

const fire_algo_t fire_algo_onesided = {
    .name   = "onesided",
    .flags  = FIRE_ALGO_DETERMINISTIC | FIRE_ALGO_CANONICAL | FIRE_ALGO_BY_NODE,
    .ops    = 1 << FIRE_ALLREDUCE,
    .chains = 10,
    .parts  = fire_parts_all,
    .plan   = onesided_plan,
    .cost   = onesided_cost,
};
