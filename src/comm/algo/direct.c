/* direct.c - every rank sends each part to the rank that owns it; the owner adds all of
 * them in one pass and sends the sum to all.
 *   messages per rank 2(P-1)   bytes sent per rank 2n(P-1)/P   any P
 *   canonical, and no partial sum is ever sent
 *
 *   round 0   every rank sends part i to rank i, for all i; rank i adds them
 *   round 1   rank i has the complete sum of part i: FINAL
 *   round 2   rank i sends it to all                                        */
#include "comm/algo/cost.h"
#include "comm/algo/direct.h"
#include "comm/pattern/roots.h"

static fire_span_t part(const fire_coll_t *c, int i)
{
    return fire_span_part(c->span, i, c->size, c->grain);
}

/* How many sums a rank holds. */
static int roots_of(const fire_coll_t *c, int rank)
{
    fire_root_t root[FIRE_MAX_ROOTS];

    return c->lane == NULL
               ? 1
               : fire_roots(c->lane[rank], c->lane[rank + 1], c->lane[c->size], root);
}

/* Send every other rank its part, beginning with rank + 1: if all ranks began with rank
 * 0, its link would be the bottleneck. Of what is lent, only slot 0 is where the sum is
 * written to. */
static fire_status_t scatter(const fire_coll_t *c, fire_step_kind_t kind,
                             fire_sched_t *out)
{
    int n = roots_of(c, c->rank);

    for (int i = 1; i < c->size; i++) {
        int to = (c->rank + i) % c->size;

        for (int k = 0; k < n; k++) {
            int slot = fire_root_slot(k, n);

            FIRE_TRY(fire_sched_add_slot(out, c, 0, slot == 0 ? kind : FIRE_SEND, to,
                                         slot, part(c, to)));
        }
    }
    return FIRE_OK;
}

/* Receive the own part from all others and add them up; rank order is canonical. */
static fire_status_t collect(const fire_coll_t *c, fire_step_kind_t kind,
                             fire_sched_t *out)
{
    int own = 0;

    for (int from = 0; from < c->size; from++) {
        int n = roots_of(c, from);

        if (from < c->rank) own += n;
        for (int k = 0; k < n && from != c->rank; k++)
            FIRE_TRY(fire_sched_add(out, c, 0,
                                    fire_root_slot(k, n) == 0 ? kind : FIRE_HOLD, from,
                                    part(c, c->rank)));
    }
    return fire_sched_add(out, c, 0, FIRE_SUM, own, part(c, c->rank));
}

/* Send the summed own part to all others and receive theirs. */
static fire_status_t gather(const fire_coll_t *c, fire_sched_t *out)
{
    for (int i = 1; i < c->size; i++) {
        int to = (c->rank + i) % c->size, from = (c->rank + c->size - i) % c->size;

        FIRE_TRY(fire_sched_add(out, c, 2, FIRE_SEND, to, part(c, c->rank)));
        FIRE_TRY(fire_sched_add(out, c, 2, FIRE_RECV, from, part(c, from)));
    }
    return FIRE_OK;
}

fire_status_t fire_plan_lend(const fire_coll_t *c, fire_sched_t *out)
{
    FIRE_TRY(scatter(c, FIRE_LEND, out));
    return collect(c, FIRE_BORROW, out);
}

static fire_status_t direct_plan(const fire_coll_t *c, fire_sched_t *out)
{
    out->own = part(c, c->rank);
    if (c->op != FIRE_ALLGATHER) {
        FIRE_TRY(scatter(c, FIRE_SEND, out));
        FIRE_TRY(collect(c, FIRE_HOLD, out));
        FIRE_TRY(fire_sched_add(out, c, 1, FIRE_FINAL, c->rank, out->own));
    }
    return c->op == FIRE_REDUCE_SCATTER ? FIRE_OK : gather(c, out);
}

static double direct_cost(const fire_coll_t *c, const fire_machine_t *m)
{
    fire_cost_t k    = fire_cost_of(c, m, c->size);
    int         most = 1;

    for (int r = 0; r < c->size; r++)
        if (roots_of(c, r) > most) most = roots_of(c, r);
    return k.chains * (c->size - 1) * ((1 + most) * k.message + most * k.add);
}

const fire_algo_t fire_algo_direct = {
    .name   = "direct",
    .flags  = FIRE_ALGO_DETERMINISTIC | FIRE_ALGO_CANONICAL | FIRE_ALGO_ONE_HOP,
    .ops    = 1 << FIRE_ALLREDUCE | 1 << FIRE_REDUCE_SCATTER | 1 << FIRE_ALLGATHER,
    .chains = 10,
    .parts  = fire_parts_all,
    .plan   = direct_plan,
    .cost   = direct_cost,
};
