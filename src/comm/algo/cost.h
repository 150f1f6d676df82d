/* cost.h - what the closed-form cost of an algorithm is made of. */
#ifndef FIRE_COMM_COST_H
#define FIRE_COMM_COST_H
#include "comm/algo/algo.h"

typedef struct fire_cost {
    double chains;       /* that follow each other through the pipeline */
    double message, add; /* seconds for one message of a chain */
} fire_cost_t;

/* A chain is cut into `parts` messages. */
fire_cost_t fire_cost_of(const fire_coll_t *c, const fire_machine_t *m, int parts);

static inline int fire_log2_up(int n)
{
    int k = 0;

    while (1 << k < n)
        k++;
    return k;
}

/* One message per rank. */
int fire_parts_all(int size);

bool fire_coll_on_one_node(const fire_coll_t *c);
#endif
