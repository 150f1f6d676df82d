/* native.c - the allreduce of the library under the transport, MPI_Iallreduce. It is
 * one of the choices, so that users can compare with it and always have the best there
 * is. */
#include "comm/algo/cost.h"

static fire_status_t native_plan(const fire_coll_t *c, fire_sched_t *out)
{
    return fire_sched_add(out, c, 0, FIRE_NATIVE, c->rank, c->span);
}

/* Priced as a ring without shared memory that uses one direction of a link at a time:
 * Open MPI's non-blocking call was twice as slow as our ring. */
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
