/* bench.h - how fast are the algorithms here? Measures allreduce for several sizes
 * and algorithms, one after the other in turns, so that a disturbance of the
 * machine hits all alike; a run counts with the time of its slowest rank. */
#ifndef FIRE_COMM_BENCH_H
#define FIRE_COMM_BENCH_H
#include "comm/comm.h"

typedef struct fire_bench {
    const size_t      *bytes; /* ascending */
    const char *const *algo;  /* NAME[:colors=K][:piece=BYTES], as in select.h; auto */
    int                nbytes, nalgo, repeats;
    bool               canonical; /* leave out what is not */
} fire_bench_t;

typedef struct fire_bench_result {
    const char *algo;   /* as asked for; "library": MPI_Allreduce */
    const char *chosen; /* what it turned out to be; NULL: the library's own way */
    size_t      bytes, piece;  /* of all; of the longest message */
    double      seconds, best; /* median and least */
    double      bus;           /* 2 (P-1)/P bytes per second: what a link carries */
    double      library;       /* its seconds divided by these; 0: there is none */
} fire_bench_result_t;

/* Every rank calls it and gets every result, size by size. */
fire_status_t fire_comm_bench(fire_comm_t *c, const fire_bench_t *b,
                              void (*each)(void *arg, const fire_bench_result_t *r),
                              void *arg);

/* Measure and write a tuning table (select.h); the caller ends *text_p with
 * fire_free(). The same on every rank. */
fire_status_t fire_comm_tune(fire_comm_t *c, const fire_bench_t *b, char **text_p);
#endif
