#include "workers.h"

#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
#include "base/alloc.h"
#include "console.h"
#include "device/cpu/blas.h"
#include "net_flags.h"

enum { MOST_WORKERS = 1024 };

workers_flags_t workers_flags;

const fire_option_t workers_options[] = {
    FIRE_OPTION(workers_flags_t, workers, INT, "1", "N",
                "workers that are threads of this process; under mpirun or srun each "
                "process is one"),
    FIRE_OPTION(workers_flags_t, comm_timeout, DOUBLE, "60", "SECONDS",
                "give up when nothing moved between workers for so long"),
    FIRE_OPTION(workers_flags_t, tuning, STRING, NULL, "FILE",
                "measured table that --comm=auto chooses from"),
    FIRE_OPTION(workers_flags_t, ranks_per_node, INT, "0", "N",
                "pretend that workers sit on nodes of N; 0: as it is"),
    FIRE_OPTION(workers_flags_t, onesided, BOOL, "false", NULL,
                "let processes write into each other's memory"),
    {0},
};

static fire_comm_options_t comm_options(void)
{
    fire_comm_options_t o = FIRE_COMM_OPTIONS_INIT;

    o.timeout        = workers_flags.comm_timeout;
    o.ranks_per_node = (int)workers_flags.ranks_per_node;
    o.tuning         = workers_flags.tuning;
    o.onesided       = workers_flags.onesided;
    return o;
}

/* ---- processes ---- */

/* Where rank 0 has a failure of its own to tell, the others need not repeat it: a
 * missing file is missing for all of them. */
static void leave_words_to_rank_0(fire_comm_t *comm, fire_status_t st)
{
    int mine = st, rank = fire_comm_rank(comm);
    int all[MOST_WORKERS];

    if (fire_comm_size(comm) > MOST_WORKERS ||
        fire_comm_allgather(comm, &mine, sizeof(mine), all) < 0)
        return;
    if (rank > 0 && all[0] < 0 && all[0] != FIRE_ERR_PEER) console_mute_error();
}

static fire_status_t run_cluster(worker_fn_t work, void *arg)
{
    fire_comm_options_t o = comm_options();
    fire_comm_t        *comm;
    fire_status_t       st;

    FIRE_TRY(fire_comm_open_cluster(&o, &comm));
    console_set_worker(fire_comm_rank(comm));
    st = work(arg, comm);
    leave_words_to_rank_0(comm, st);
    fire_comm_close(comm);
    return st;
}

/* ---- threads ---- */

typedef struct worker {
    pthread_t     thread;
    fire_team_t  *team;
    int           rank;
    worker_fn_t   work;
    void         *arg;
    fire_status_t status;
    char          cause[1024]; /* errors belong to threads */
} worker_t;

static void *run_worker(void *arg)
{
    worker_t           *w = arg;
    fire_comm_options_t o = comm_options();
    fire_comm_t        *comm;

    console_set_worker(w->rank);
    w->status = fire_comm_open_threads(w->team, w->rank, &o, &comm);
    if (w->status >= 0) {
        w->status = w->work(w->arg, comm);
        fire_comm_close(comm);
    }
    if (w->status < 0) snprintf(w->cause, sizeof(w->cause), "%s", fire_last_error());
    return NULL;
}

/* A failure at first hand says more than the news of one. */
static fire_status_t first_cause(const worker_t *w, int n)
{
    const worker_t *worst = &w[0];

    for (int i = 1; i < n; i++)
        if (w[i].status < 0 && (worst->status >= 0 || (worst->status == FIRE_ERR_PEER &&
                                                       w[i].status != FIRE_ERR_PEER)))
            worst = &w[i];
    if (worst->status >= 0) return FIRE_OK;
    return FIRE_FAIL(worst->status, "%s", worst->cause);
}

/* Rank 0 runs here. If not all can start, those that did wait for the others and
 * give up after --comm_timeout. */
static fire_status_t run_team(worker_t *w, int n)
{
    int started = 1;

    while (started < n &&
           pthread_create(&w[started].thread, NULL, run_worker, &w[started]) == 0)
        started++;
    if (started == n) run_worker(&w[0]);
    for (int i = 1; i < started; i++)
        pthread_join(w[i].thread, NULL);
    if (started < n)
        return FIRE_FAIL(FIRE_ERR_NOMEM,
                         "only %d of %d workers could start; use fewer "
                         "--workers",
                         started, n);
    return first_cause(w, n);
}

/* Workers share the cores; each computes with its part of them. */
static void share_cores(int n)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);

    if (net_flags.threads == 0) net_flags.threads = cores > n ? cores / n : 1;
    fire_blas_set_threads((int)net_flags.threads);
}

static fire_status_t run_threads(worker_fn_t work, void *arg, int n)
{
    fire_team_t  *team;
    worker_t     *w = NULL;
    fire_status_t st;

    FIRE_TRY(fire_team_create(n, &team));
    share_cores(n);
    FIRE_TRY_GOTO(st, FIRE_NEW(&w, n), err_team);
    for (int i = 0; i < n; i++)
        w[i] = (worker_t){.team = team, .rank = i, .work = work, .arg = arg};
    st = run_team(w, n);
err_team:
    fire_free(w);
    fire_team_destroy(team);
    return st;
}

fire_status_t workers_run(worker_fn_t work, void *arg)
{
    if (workers_flags.workers < 1 || workers_flags.workers > MOST_WORKERS)
        return FIRE_FAIL(FIRE_ERR_INVALID, "--workers must be 1 ... %d", MOST_WORKERS);
    if (fire_cluster_launched()) return run_cluster(work, arg);
    if (workers_flags.workers > 1)
        return run_threads(work, arg, (int)workers_flags.workers);
    return work(arg, NULL);
}
