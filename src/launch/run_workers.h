/* run_workers.h - the workers of a command: processes that mpirun or srun started, or
 * threads of this process, or this process alone. */
#ifndef FIRE_LAUNCH_RUN_WORKERS_H
#define FIRE_LAUNCH_RUN_WORKERS_H
#include "comm/comm.h"

/* What a worker knows of itself. */
typedef struct fire_worker {
    fire_comm_t *comm;    /* to the other workers; NULL: there are none */
    int          rank;    /* 0 ... size - 1; rank 0 logs and writes files */
    int          threads; /* that it may compute with; 0: as many as there are cores */
} fire_worker_t;

/* Called once on every worker, on threads of their own or in processes of their own. */
typedef fire_status_t (*fire_worker_fn_t)(void *arg, const fire_worker_t *worker);

typedef struct fire_workers {
    int64_t             n; /* threads to start; not used where a launcher started us */
    int                 threads; /* of each worker; 0: a fair share of the cores */
    fire_comm_options_t comm;
} fire_workers_t;

/* Run `work` on every worker and wait for all of them. `ready` says whether this process
 * could prepare itself: if it is a failure anywhere, no worker begins. The error
 * returned is that of the worker where it arose, with its rank and host.
 * *reported_p: another process failed and reports it; this one need not. */
fire_status_t fire_workers_run(const fire_workers_t *workers, fire_status_t ready,
                               fire_worker_fn_t work, void *arg, bool *reported_p);

/* The same as threads of this process only, each with a communicator, also a single
 * one. */
fire_status_t fire_workers_run_threads(const fire_workers_t *workers,
                                       fire_worker_fn_t work, void *arg);
/* Become the worker that this process is of its cluster, for longer than one call; a
 * process that no launcher started is the only one. The caller closes *comm_p. */
fire_status_t fire_workers_join(const fire_workers_t *workers, fire_comm_t **comm_p);
#endif
