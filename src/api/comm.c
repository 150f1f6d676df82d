/* comm.c - workers for users of the library: threads that it starts, or the job that the
 * process belongs to. All else of <fire/comm.h> is in src/comm/. */
#include "base/config.h"
#include "launch/run_workers.h"

static fire_status_t read_config(const fire_comm_config_t *from, fire_workers_t *to)
{
    fire_comm_config_t c = FIRE_COMM_CONFIG_INIT;

    FIRE_TRY(fire_config_read(from, &c, sizeof(c), "config of a communicator"));
    if (c.threads < 0 || c.ranks_per_node < 0 || !(c.deadline >= 0))
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "the config of a communicator has %d threads, %d ranks per "
                         "node and a deadline of %g s; none may be negative",
                         c.threads, c.ranks_per_node, c.deadline);
    *to = (fire_workers_t){.threads = c.threads,
                           .comm    = {.timeout        = c.deadline,
                                       .ranks_per_node = c.ranks_per_node,
                                       .onesided       = c.onesided,
                                       .tuning         = c.tuning}};
    return FIRE_OK;
}

/* What the user wants to be run. */
typedef struct task {
    fire_comm_work_t work;
    void            *arg;
} task_t;

static fire_status_t run(void *arg, const fire_worker_t *worker)
{
    const task_t *task = arg;

    return task->work(task->arg, worker->comm);
}

fire_status_t fire_comm_run_threads(int n, const fire_comm_config_t *config,
                                    fire_comm_work_t work, void *arg)
{
    fire_workers_t workers;
    task_t         task = {work, arg};

    FIRE_TRY(read_config(config, &workers));
    workers.n = n;
    return fire_workers_run_threads(&workers, run, &task);
}

fire_status_t fire_comm_join_job(const fire_comm_config_t *config, fire_comm_t **comm_p)
{
    fire_workers_t workers;

    FIRE_TRY(read_config(config, &workers));
    return fire_workers_join(&workers, comm_p);
}
