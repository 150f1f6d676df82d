/* ranks.h - runs a function as N ranks that are threads of the test. */
#ifndef TESTS_COMM_RANKS_H
#define TESTS_COMM_RANKS_H
#include "comm/comm.h"

typedef void (*rank_fn_t)(fire_comm_t *c, void *arg);

/* Every rank opens a communicator, calls fn and closes it. */
void run_ranks(int size, const fire_comm_options_t *options, rank_fn_t fn, void *arg);

/* Test data: rank r's element i, of mixed sign and size, so that another order of
 * additions gives other bits. */
float contribution(int rank, size_t i);
void  contribute(int rank, float *x, size_t n);

/* What the sum over `size` ranks must be: element i exactly, or all of them in
 * canonical order. */
double exact_sum(int size, size_t i);
void   canonical_sum(int size, float *x, size_t n);
#endif
