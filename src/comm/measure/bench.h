/* bench.h - measures allreduce for several sizes and algorithms, and writes a tuning
 * table from that. Algorithms are run in turns, one repeat of each after the other, so
 * that a disturbance of the machine hits all alike. The time of a run is that of its
 * slowest rank. Every rank calls these functions and gets every result. */
#ifndef FIRE_COMM_BENCH_H
#define FIRE_COMM_BENCH_H
#include "comm/comm.h"

typedef struct fire_bench {
    const size_t      *bytes; /* [nbytes] sizes of the buffer, ascending */
    const char *const *algo;  /* [nalgo] "auto" or NAME[:colors=K][:piece=BYTES] */
    int                nbytes, nalgo, repeats;
    bool               canonical; /* "auto" chooses among canonical algorithms only */
} fire_bench_t;

typedef struct fire_bench_result {
    const char *algo;   /* as asked for; "library": MPI_Allreduce */
    const char *chosen; /* algorithm that "auto" stands for; NULL: the library's call */
    size_t      bytes;  /* of the buffer */
    size_t      piece;  /* bytes of the longest message */
    double      seconds; /* median of the repeats */
    double      best;    /* least of the repeats */
    double      bus;     /* 2 (P-1)/P bytes/s: what each link carries at least */
    double      library; /* seconds of MPI_Allreduce / seconds; 0: no such call */
} fire_bench_result_t;

/* Calls each() for every result, size by size. */
fire_status_t fire_comm_bench(fire_comm_t *c, const fire_bench_t *b,
                              void (*each)(void *arg, const fire_bench_result_t *r),
                              void *arg);

/* Measure and write a tuning table (select.h) into *text_p, the same text on every
 * rank; the caller frees it with fire_free(). */
fire_status_t fire_comm_tune(fire_comm_t *c, const fire_bench_t *b, char **text_p);
#endif
