/* direct.h - the direct exchange among ranks that can access each other's memory. */
#ifndef FIRE_COMM_DIRECT_H
#define FIRE_COMM_DIRECT_H
#include "comm/algo/algo.h"

/* Append the steps of an allreduce inside a node: every rank lends its buffer; each
 * sums one part over all buffers and stores the result into all of them, in one
 * pass. */
fire_status_t fire_plan_lend(const fire_coll_t *c, fire_sched_t *out);
#endif
