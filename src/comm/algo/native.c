/* native.c - the collective of the library under the transport, MPI_Allreduce:
 * a choice beside ours, so that a user always has the best there is. */
#include "comm/algo/cost.h"

static fire_status_t native_plan(const fire_coll_t *c, fire_sched_t *out)
{
    return fire_sched_add(out, c, 0, FIRE_NATIVE, c->rank, c->span);
}

/* Taken for a ring that knows nothing of shared buffers and uses one direction of a
 * link at a time: Open MPI's call that does not block was twice as slow as a ring. */
static double native_cost(const fire_coll_t *c, const fire_machine_t *m)
{
    fire_cost_t k = fire_cost_of(c, m, c->size);

    return k.chains * (c->size - 1) * 4 * (k.message + k.add);
}

const fire_algo_t fire_algo_native = {
    .name   = "mpi",
    .flags  = FIRE_ALGO_NATIVE,
    .ops    = 1 << FIRE_ALLREDUCE,
    .chains = 1,
    .plan   = native_plan,
    .cost   = native_cost,
};
