/* forest.h - sums over ranks that hold runs of lanes of any length, in several arrays
 * each (sched.h). Algorithms plan with it where fire_coll_t.lane is set. */
#ifndef FIRE_COMM_FOREST_H
#define FIRE_COMM_FOREST_H
#include "comm/algo/algo.h"

/* Where the sum of two ranks' sums is made. */
typedef enum fire_forest {
    FIRE_FOREST_ONE,     /* at the rank that has its first lanes: a tree */
    FIRE_FOREST_SPREAD,  /* cut over all ranks that have lanes of it: halving */
    FIRE_FOREST_BY_NODE, /* inside a node as ONE, between nodes as SPREAD */
} fire_forest_t;

/* Append this rank's steps; SPREAD also for REDUCE_SCATTER and ALLGATHER. */
fire_status_t fire_plan_forest(const fire_coll_t *c, fire_forest_t rule,
                               fire_sched_t *out);
/* Predicted seconds of an allreduce that cuts its chains into so many parts; INFINITY
 * if there is no memory to find out. */
double fire_forest_cost(const fire_coll_t *c, fire_forest_t rule,
                        const fire_machine_t *m, int parts);
#endif
