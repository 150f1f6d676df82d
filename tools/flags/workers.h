/* workers.h - the workers of a command: processes that mpirun or srun started, or
 * threads of this process (--workers N), or this one alone. */
#ifndef FIRE_TOOLS_FLAGS_WORKERS_H
#define FIRE_TOOLS_FLAGS_WORKERS_H
#include "base/text/options.h"
#include "comm/comm.h"

typedef struct workers_flags {
    int64_t workers, ranks_per_node;
} workers_flags_t;

extern workers_flags_t     workers_flags;
extern const fire_option_t workers_options[];

typedef struct worker {
    fire_comm_t *comm;    /* NULL: alone */
    int          rank;    /* 0 is the one that talks and writes */
    int          threads; /* that it may use; 0: all */
} worker_t;

typedef fire_status_t (*work_t)(void *arg, const worker_t *worker);

typedef struct workers {
    int                 threads; /* of each; 0: a fair share of the cores */
    fire_comm_options_t comm;
} workers_t;

/* Run `work` on every worker and wait for all. `ready` is what this process has to say
 * before it meets the others: if it is a failure, none begins. The error that comes
 * back is that of the worker where it arose, with rank and host. */
fire_status_t workers_run(const workers_t *workers, fire_status_t ready, work_t work,
                          void *arg);
#endif
