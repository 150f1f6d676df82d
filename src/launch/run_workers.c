/* run_workers.c - runs a function on every worker. Where a launcher (mpirun, srun)
 * started this process, the process is one worker of its cluster. Otherwise workers are
 * threads of this process, connected by the transport for threads. */
#include "launch/run_workers.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/host/cores.h"
#include "base/log.h"
#include "device/cpu/blas.h"

enum { MOST_WORKERS = 1024 };

/* One worker, from the point of view of this process. */
typedef struct member {
    const fire_workers_t *workers;
    fire_team_t          *team; /* NULL: a process of a cluster */
    int                   rank;
    fire_worker_fn_t      work;
    void                 *arg;
    fire_log_route_t     *log; /* where the messages of the caller go */
    pthread_t             thread;
    bool                  started;
    fire_status_t         ready;  /* how this process is prepared */
    fire_status_t         status; /* how the worker ended */
    char                  error[2048];
    bool                  reported; /* the process that failed reports the error */
} member_t;

/* ---- cores ---- */

typedef struct cores {
    int       node, n; /* n: how many of `set` this process is granted */
    cpu_set_t set;
} cores_t;

static cores_t own_cores(int node)
{
    cores_t c = {.node = node, .n = fire_cores()};

    CPU_ZERO(&c.set);
    sched_getaffinity(0, sizeof(c.set), &c.set);
    return c;
}

/* Divide the cores of this worker by the number of workers of its node that may run on
 * the same cores. */
static fire_status_t share_cores(fire_comm_t *comm, int *threads_p)
{
    int           rank = fire_comm_rank(comm), size = fire_comm_size(comm), sharing = 0;
    cores_t       mine = own_cores(fire_comm_node(comm, rank)), *all;
    fire_status_t st;

    FIRE_TRY(FIRE_NEW(&all, size));
    st = fire_comm_allgather(comm, &mine, sizeof(mine), all);
    for (int r = 0; r < size && st >= 0; r++)
        sharing += all[r].node == mine.node && CPU_EQUAL(&all[r].set, &mine.set);
    fire_free(all);
    *threads_p = sharing > 0 && mine.n > sharing ? mine.n / sharing : 1;
    return st;
}

/* A user who sets OpenMP's variable has chosen the number of threads. */
static bool user_chose_threads(void)
{
    return getenv("OMP_NUM_THREADS") != NULL;
}

static fire_status_t settle_threads(const fire_workers_t *workers, fire_comm_t *comm,
                                    int *threads_p)
{
    *threads_p = workers->threads;
    if (*threads_p == 0 && !user_chose_threads())
        FIRE_TRY(share_cores(comm, threads_p));
    fire_comm_set_threads(comm, *threads_p);
    return FIRE_OK;
}

/* Where workers times threads are all cores, give each worker cores of its own, as a
 * launcher does with processes: its weights stay in the caches of these cores. Threads
 * that it starts later, for decoding, inherit them. */
static void bind_cores(int rank, int size, int threads, const cpu_set_t *all)
{
    cpu_set_t own;
    int       seen = 0;

    if (threads == 0 || size * threads != CPU_COUNT(all)) return;
    CPU_ZERO(&own);
    for (int i = 0; i < CPU_SETSIZE; i++)
        if (CPU_ISSET(i, all) && seen++ / threads == rank) CPU_SET(i, &own);
    sched_setaffinity(0, sizeof(own), &own);
}

/* ---- one worker ---- */

/* route: where messages of the thread that began this go. */
static void set_log_context(fire_log_route_t *route, fire_comm_t *comm)
{
    fire_log_context_t context = {.least = FIRE_DEBUG, .route = route};
    int                rank    = fire_comm_rank(comm);

    if (rank > 0) {
        context.least = FIRE_WARNING;
        snprintf(context.name, sizeof(context.name), "rank %d (%s)", rank,
                 fire_comm_host(comm, rank));
    }
    fire_log_set_context(&context);
}

/* threads 0: as many as there are cores. */
static fire_status_t reserve_blas(int threads, int workers)
{
    return fire_blas_reserve((threads > 0 ? threads : own_cores(0).n) * workers);
}

static fire_status_t agree_and_work(const member_t *m, fire_comm_t *comm)
{
    fire_worker_t w     = {.comm = comm, .rank = fire_comm_rank(comm)};
    cpu_set_t     cores = own_cores(0).set;
    fire_status_t st;

    FIRE_TRY(fire_comm_agree(comm, m->ready));
    FIRE_TRY(settle_threads(m->workers, comm, &w.threads));
    if (m->team != NULL) bind_cores(w.rank, fire_comm_size(comm), w.threads, &cores);
    st = fire_comm_agree(
        comm, reserve_blas(w.threads, m->team != NULL ? fire_comm_size(comm) : 1));
    if (st >= 0) st = m->work(m->arg, &w);
    sched_setaffinity(0, sizeof(cores), &cores);
    return st;
}

/* An error names the worker where it arose. The other workers get FIRE_ERR_PEER; they
 * add nothing to it. */
static fire_status_t be_worker(member_t *m, fire_comm_t *comm)
{
    int           rank = fire_comm_rank(comm);
    fire_status_t st;

    set_log_context(m->log, comm);
    st = agree_and_work(m, comm);
    if (st >= 0) return st;
    if (st != FIRE_ERR_PEER) {
        fire_comm_fail(comm);
        return fire_error_prefix(st, "rank %d (%s)", rank, fire_comm_host(comm, rank));
    }
    m->reported = m->team == NULL && rank > 0;
    return st;
}

/* ---- processes ---- */

static fire_status_t run_process(member_t *m)
{
    fire_comm_t  *comm;
    fire_status_t st;

    if (m->ready < 0) snprintf(m->error, sizeof(m->error), "%s", fire_last_error());
    FIRE_TRY(fire_comm_open_cluster(&m->workers->comm, &comm));
    if (m->ready < 0) m->ready = FIRE_FAIL(m->ready, "%s", m->error);
    st = be_worker(m, comm);
    fire_comm_close(comm);
    return st;
}

/* ---- threads ---- */

static void *run_thread(void *arg)
{
    member_t    *m = arg;
    fire_comm_t *comm;

    m->status = fire_comm_open_threads(m->team, m->rank, &m->workers->comm, &comm);
    if (m->status >= 0) {
        m->status = be_worker(m, comm);
        fire_comm_close(comm);
    }
    snprintf(m->error, sizeof(m->error), "%s", fire_last_error());
    return NULL;
}

/* A worker whose thread could not be started: fail for it, or the others would wait. */
static void report_missing(const member_t *m)
{
    fire_transport_t *tp;

    if (fire_threads_open(m->team, m->rank, &tp) < 0) return;
    tp->ops->fail(tp, "its thread could not be started");
    tp->ops->close(tp);
}

/* The error of the worker where it arose, or else any FIRE_ERR_PEER. */
static fire_status_t first_failure(const member_t *m, int n)
{
    const member_t *bad = NULL;

    for (int r = 0; r < n; r++)
        if (m[r].status < 0 && (bad == NULL || (bad->status == FIRE_ERR_PEER &&
                                                m[r].status != FIRE_ERR_PEER)))
            bad = &m[r];
    return bad == NULL ? FIRE_OK : FIRE_FAIL(bad->status, "%s", bad->error);
}

static fire_status_t run_threads(const member_t *like, int n)
{
    fire_team_t  *team = NULL;
    member_t     *m;
    fire_status_t st;

    FIRE_TRY(FIRE_NEW(&m, n));
    st = fire_team_create(n, &team);
    for (int r = 0; r < n && st >= 0; r++) {
        m[r]      = *like;
        m[r].team = team;
        m[r].rank = r;
        m[r].log  = fire_log_context().route;
        m[r].started =
            r > 0 && pthread_create(&m[r].thread, NULL, run_thread, &m[r]) == 0;
        if (r > 0 && !m[r].started) report_missing(&m[r]);
    }
    if (st >= 0) run_thread(&m[0]);
    for (int r = 1; r < n && st >= 0; r++)
        if (m[r].started) pthread_join(m[r].thread, NULL);
    if (st >= 0) st = first_failure(m, n);
    fire_team_destroy(team);
    fire_free(m);
    return st;
}

static fire_status_t check_number(const fire_workers_t *workers)
{
    if (workers->n >= 1 && workers->n <= MOST_WORKERS) return FIRE_OK;
    return FIRE_FAIL(FIRE_ERR_INVALID, "there must be 1 to %d workers", MOST_WORKERS);
}

fire_status_t fire_workers_run_threads(const fire_workers_t *workers,
                                       fire_worker_fn_t work, void *arg)
{
    member_t like = {.workers = workers, .work = work, .arg = arg};

    FIRE_TRY(check_number(workers));
    return run_threads(&like, (int)workers->n);
}

fire_status_t fire_workers_join(const fire_workers_t *workers, fire_comm_t **comm_p)
{
    int           threads;
    fire_comm_t  *comm;
    fire_status_t st;

    if (!fire_cluster_launched()) {
        FIRE_TRY(fire_comm_open_alone(&workers->comm, comm_p));
        fire_comm_set_threads(*comm_p, workers->threads);
        return FIRE_OK;
    }
    FIRE_TRY(fire_comm_open_cluster(&workers->comm, &comm));
    st = fire_comm_agree(comm, settle_threads(workers, comm, &threads));
    if (st < 0)
        fire_comm_close(comm);
    else
        *comm_p = comm;
    return st;
}

fire_status_t fire_workers_run(const fire_workers_t *workers, fire_status_t ready,
                               fire_worker_fn_t work, void *arg, bool *reported_p)
{
    member_t      m = {.workers = workers, .work = work, .arg = arg, .ready = ready};
    fire_status_t st;

    *reported_p = false;
    if (m.ready >= 0 && (m.ready = check_number(workers)) < 0)
        fire_error_prefix(m.ready, "--workers %lld", (long long)workers->n);
    m.log = fire_log_context().route;
    if (fire_cluster_launched()) {
        st          = run_process(&m);
        *reported_p = m.reported;
        return st;
    }
    if (m.ready < 0) return m.ready;
    if (workers->n > 1) return run_threads(&m, (int)workers->n);
    FIRE_TRY(reserve_blas(workers->threads, 1));
    return work(arg, &(fire_worker_t){.threads = workers->threads});
}
