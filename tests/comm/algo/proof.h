/* proof.h - runs the schedules of all ranks on symbols instead of numbers, under the
 * strictest rules a transport may have, and says what is wrong with them. */
#ifndef TESTS_COMM_PROOF_H
#define TESTS_COMM_PROOF_H
#include "comm/algo/algo.h"

enum { PROOF_RANKS = 64 }; /* at most */

/* Plan c for all c->size ranks into sched[size]; free them with unplan_all(). */
void plan_all(const fire_algo_t *algo, const fire_coll_t *c, fire_sched_t *sched);
void unplan_all(int size, fire_sched_t *sched);

/* NULL if every rank ends with what c->op promises: each contribution exactly
 * once, the same additions on all ranks, and the canonical ones if wanted. */
const char *prove(const fire_sched_t *sched, const fire_coll_t *c, bool canonical);
#endif
