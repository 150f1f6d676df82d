/* workers.h - who trains: this process alone, threads of it, or the processes that
 * mpirun or srun started. */
#ifndef FIRE_TOOLS_WORKERS_H
#define FIRE_TOOLS_WORKERS_H
#include "base/options.h"
#include "comm/comm.h"

typedef struct workers_flags {
    int64_t     workers, ranks_per_node;
    bool        onesided;
    double      comm_timeout;
    const char *tuning;
} workers_flags_t;

extern workers_flags_t     workers_flags;
extern const fire_option_t workers_options[];

/* What one worker does; comm is NULL if it is alone. */
typedef fire_status_t (*worker_fn_t)(void *arg, fire_comm_t *comm);

/* Run `work` on every worker and wait for all; the first failure that is not just
 * the news of another one's is the result. */
fire_status_t workers_run(worker_fn_t work, void *arg);
#endif
