/* tree.c - FireCaffe's reduction tree: sums go up a binomial tree (pattern/binomial.h),
 * the result goes down the same tree.
 *   rounds 2 log2 P   the root handles log2 P messages each way   any P
 *   canonical: a rank adds its children smallest subtree first           */
#include "comm/algo/cost.h"
#include "comm/algo/forest.h"
#include "comm/pattern/binomial.h"

/* Position in the tree, where the root is 0 -> position in the group. */
static int turned(const fire_coll_t *c, int position)
{
    return (position + c->root) % c->size;
}

/* Up: one child per round, because all are added to the same span. */
static fire_status_t reduce(const fire_coll_t *c, const fire_tree_t *t,
                            fire_sched_t *out)
{
    for (int i = 0; i < t->nchild; i++)
        FIRE_TRY(
            fire_sched_add(out, c, i, FIRE_RECV_ADD, turned(c, t->child[i]), c->span));
    if (t->parent < 0)
        return fire_sched_add(out, c, t->depth, FIRE_FINAL, c->rank, c->span);
    return fire_sched_add(out, c, t->nchild, FIRE_SEND, turned(c, t->parent), c->span);
}

/* Rounds between messages to two children. 0 sends to all children at once, which share
 * the link: good for the short messages of a pipeline. Long messages go to one child
 * after the other, so that the deepest subtree does not wait until all are through. */
static int rounds_between(const fire_coll_t *c)
{
    return c->span.len * sizeof(float) > 4 << 20 ? 1 : 0;
}

/* Down: largest subtree first. */
static fire_status_t broadcast(const fire_coll_t *c, const fire_tree_t *t,
                               fire_sched_t *out)
{
    int down = t->depth + 1, round = down + 1;

    if (t->parent >= 0)
        FIRE_TRY(
            fire_sched_add(out, c, down, FIRE_RECV, turned(c, t->parent), c->span));
    for (int i = t->nchild - 1; i >= 0; i--, round += rounds_between(c))
        FIRE_TRY(
            fire_sched_add(out, c, round, FIRE_SEND, turned(c, t->child[i]), c->span));
    return FIRE_OK;
}

static fire_status_t tree_plan(const fire_coll_t *c, fire_sched_t *out)
{
    fire_tree_t t = fire_binomial((c->rank - c->root + c->size) % c->size, c->size);

    if (c->lane != NULL) return fire_plan_forest(c, FIRE_FOREST_ONE, out);
    if (c->op != FIRE_BROADCAST) FIRE_TRY(reduce(c, &t, out));
    if (c->op != FIRE_REDUCE) FIRE_TRY(broadcast(c, &t, out));
    return FIRE_OK;
}

/* With as many as sched.c begins for other algorithms, packets were lost on eight hosts
 * and more (docs/bench/comm.md). */
static int begun(int size)
{
    int levels = fire_log2_up(size);

    return levels < 3 ? 8 : 4 * (levels - 1);
}

static double tree_cost(const fire_coll_t *c, const fire_machine_t *m)
{
    fire_cost_t k = fire_cost_of(c, m, 1);

    if (c->lane != NULL) return fire_forest_cost(c, FIRE_FOREST_ONE, m, 1);
    return (k.chains + 1) * fire_log2_up(c->size) * (k.message + k.add);
}

const fire_algo_t fire_algo_tree = {
    .name   = "tree",
    .flags  = FIRE_ALGO_DETERMINISTIC | FIRE_ALGO_CANONICAL,
    .ops    = 1 << FIRE_ALLREDUCE | 1 << FIRE_REDUCE | 1 << FIRE_BROADCAST,
    .chains = 128,
    .fan    = fire_log2_up,
    .begun  = begun,
    .plan   = tree_plan,
    .cost   = tree_cost,
};
