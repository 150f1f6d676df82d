/* sums.h - does every algorithm sum right on these ranks? */
#ifndef TESTS_COMM_SUMS_H
#define TESTS_COMM_SUMS_H
#include "ranks.h"

/* Every rank calls it: allreduce of count elements with every algorithm, compared
 * with exact sums, with canonical bits (`want`) where promised, and with rank 0's
 * bits. */
void check_sums(fire_comm_t *c, const float *want, float *buf, size_t count,
                size_t piece);
#endif
