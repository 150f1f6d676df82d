/* cost.h - the common terms of the algorithms' cost formulas. A buffer is cut into
 * chains of `parts` messages; formulas add up the messages on the longest path. */
#ifndef FIRE_COMM_COST_H
#define FIRE_COMM_COST_H
#include "comm/algo/algo.h"

typedef struct fire_cost {
    double chains;  /* that follow each other through the pipeline; at least 1 */
    double message; /* seconds to send one message of a chain */
    double add;     /* seconds to add it */
} fire_cost_t;

/* The terms for c->span in messages of c->piece elements, `parts` messages to a chain.
 * Uses the link inside of nodes if all ranks are on one. */
fire_cost_t fire_cost_of(const fire_coll_t *c, const fire_machine_t *m, int parts);

/* The least k with 2^k >= n. */
static inline int fire_log2_up(int n)
{
    int k = 0;

    while (1 << k < n)
        k++;
    return k;
}

/* For fire_algo_t.parts: one message per rank. */
int fire_parts_all(int size);

bool fire_coll_on_one_node(const fire_coll_t *c);
#endif
