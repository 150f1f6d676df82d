/* collective.h - how long a collective takes on a cluster: the planner writes every
 * rank's schedule, and messages of all of them go through the network by the rules
 * of the executor (comm/exec/exec.c): a round starts when the one before has ended, as many
 * messages are under way from one rank to another under one color as it allows, and
 * what is added is received ahead of its round. */
#ifndef FIRE_SIM_COLLECTIVE_H
#define FIRE_SIM_COLLECTIVE_H
#include "comm/algo/algo.h"
#include "comm/codec/codec.h"
#include "sim/machine.h"

typedef struct fire_price {
    double seconds;
    double bytes;    /* sent by the rank that sends most */
    double messages; /* likewise */
} fire_price_t;

/* c->rank is not looked at; every rank is planned. */
fire_status_t fire_simulate(const fire_cluster_t *cluster, const fire_algo_t *algo,
                            const fire_coll_t *c, const fire_codec_t *codec,
                            fire_price_t *price_p);
#endif
