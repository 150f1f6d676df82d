/* collective.h - how long a collective takes on a cluster. The planner writes the
 * schedules of all ranks, and their messages go through a simulated network by the
 * rules of the executor (comm/exec/exec.c): rounds, blocks, windows, early receives.
 * Deterministic. */
#ifndef FIRE_SIM_COLLECTIVE_H
#define FIRE_SIM_COLLECTIVE_H
#include "comm/algo/algo.h"
#include "comm/codec/codec.h"
#include "sim/machine.h"

typedef struct fire_price {
    double seconds;  /* until the last rank is done */
    double bytes;    /* sent by the rank that sends most */
    double messages; /* sent by the rank that sends most of them */
} fire_price_t;

/* Simulate *c on ranks 0 ... c->size-1 of the cluster; c->rank is ignored. codec NULL:
 * float32 on the wire. Not for FIRE_ALGO_NATIVE. */
fire_status_t fire_simulate(const fire_cluster_t *cluster, const fire_algo_t *algo,
                            const fire_coll_t *c, const fire_codec_t *codec,
                            fire_price_t *price_p);
#endif
