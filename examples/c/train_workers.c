/* train_workers.c - trains a net on several workers with libfire: on threads of this
 * process, or on the processes that mpirun starts.
 *
 *     train_workers SOLVER.prototxt [THREADS [SETTINGS]]
 *     mpirun -n 4 train_workers SOLVER.prototxt 0 "lanes: 8"
 *
 * SETTINGS are those of fire { } in a solver file. With `lanes` the weights are the same
 * for each number of workers. */
#include <fire/fire.h>
#include <stdio.h>
#include <stdlib.h>

/* What all workers are given. */
typedef struct job {
    const char *solver, *settings;
} job_t;

static void on_event(void *arg, const fire_train_event_t *e)
{
    (void)arg;
    if (e->kind == FIRE_TRAIN_DISPLAY)
        printf("iteration %lld: loss %.4g\n", (long long)e->iter, e->loss);
    if (e->kind == FIRE_TRAIN_SNAPSHOT)
        printf("iteration %lld: wrote %s\n", (long long)e->iter, e->name);
}

/* All workers make the same calls: each one trains, rank 0 also tells about it. */
static fire_status_t work(void *arg, fire_comm_t *comm)
{
    const job_t          *job    = arg;
    fire_trainer_config_t config = FIRE_TRAINER_CONFIG_INIT;
    fire_trainer_hooks_t  hooks  = FIRE_TRAINER_HOOKS_INIT;
    fire_trainer_t       *trainer;
    fire_status_t         st;

    config.comm = comm;
    config.fire = job->settings;
    st          = fire_trainer_from_file(job->solver, &config, &trainer);
    if (st < 0) return st;
    if (fire_comm_rank(comm) == 0) {
        printf("%d workers, %d lanes, batch %lld\n", fire_trainer_size(trainer),
               fire_trainer_lanes(trainer), (long long)fire_trainer_batch(trainer));
        hooks.event = on_event;
    }
    st = fire_trainer_set_hooks(trainer, &hooks);
    if (st >= 0) st = fire_trainer_solve(trainer);
    fire_trainer_destroy(trainer);
    return st;
}

int main(int argc, char **argv)
{
    job_t         job     = {NULL, NULL};
    int           threads = argc > 2 ? atoi(argv[2]) : 0, rank = 0;
    fire_comm_t  *comm;
    fire_status_t st;

    if (argc < 2 || argc > 4) {
        fprintf(stderr, "usage: train_workers SOLVER.prototxt [THREADS [SETTINGS]]\n");
        return 2;
    }
    job.solver   = argv[1];
    job.settings = argc > 3 ? argv[3] : NULL;
    if (threads > 0) {
        st = fire_comm_run_threads(threads, NULL, work, &job);
    } else {
        st = fire_comm_join_job(NULL, &comm);
        if (st >= 0) {
            rank = fire_comm_rank(comm);
            st   = work(&job, comm);
            fire_comm_close(comm);
        }
    }
    /* Each process has the message of the worker that failed. */
    if (st < 0 && (st != FIRE_ERR_PEER || rank == 0))
        fprintf(stderr, "error: %s\n", fire_last_error());
    return st < 0;
}
