/* ring.c - reduce-scatter, then allgather, around a ring.
 *   rounds 2(P-1)   bytes sent per rank 2n(P-1)/P   any P   order fixed
 *
 *   P = 3, round 0:  0 --part 2--> 1 --part 0--> 2 --part 1--> 0
 *          round 1:  0 --part 1--> 1 --part 2--> 2 --part 0--> 0   (0 owns 0) */
#include "comm/algo/cost.h"

/* Part i of P; i may be negative. */
static fire_span_t part(const fire_coll_t *c, int i)
{
    return fire_span_part(c->span, (i % c->size + c->size) % c->size, c->size,
                          c->grain);
}

/* P-1 rounds: in each, send a part to the next rank and receive one from the previous;
 * part `first` is sent first. */
static fire_status_t pass_parts(const fire_coll_t *c, int round, fire_step_kind_t in,
                                int first, fire_sched_t *out)
{
    int next = (c->rank + 1) % c->size, prev = (c->rank + c->size - 1) % c->size;

    for (int r = 0; r < c->size - 1; r++) {
        FIRE_TRY(
            fire_sched_add(out, c, round + r, FIRE_SEND, next, part(c, first - r)));
        FIRE_TRY(fire_sched_add(out, c, round + r, in, prev, part(c, first - r - 1)));
    }
    return FIRE_OK;
}

static fire_status_t ring_plan(const fire_coll_t *c, fire_sched_t *out)
{
    int round = 0;

    out->own = part(c, c->rank);
    if (c->op != FIRE_ALLGATHER) {
        FIRE_TRY(pass_parts(c, round, FIRE_RECV_ADD, c->rank - 1, out));
        round = c->size - 1;
        FIRE_TRY(fire_sched_add(out, c, round++, FIRE_FINAL, c->rank, out->own));
    }
    if (c->op == FIRE_REDUCE_SCATTER) return FIRE_OK;
    return pass_parts(c, round, FIRE_RECV, c->rank, out);
}

/* P-1 messages to add, then P-1 to copy, for every chain. */
static double ring_cost(const fire_coll_t *c, const fire_machine_t *m)
{
    fire_cost_t k = fire_cost_of(c, m, c->size);

    return k.chains * (c->size - 1) * (2 * k.message + k.add);
}

const fire_algo_t fire_algo_ring = {
    .name   = "ring",
    .flags  = FIRE_ALGO_DETERMINISTIC,
    .ops    = 1 << FIRE_ALLREDUCE | 1 << FIRE_REDUCE_SCATTER | 1 << FIRE_ALLGATHER,
    .chains = 10,
    .parts  = fire_parts_all,
    .plan   = ring_plan,
    .cost   = ring_cost,
};
