/* firecaffe sweep - trains a grid of batch sizes and learning rates, one training per
 * worker at a time, and tabulates what each point reached. */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "base/alloc.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "command.h"
#include "view/console.h"
#include "flags/fire.h"
#include "flags/gpu.h"
#include "flags/net.h"
#include "stop.h"
#include "sweep.h"
#include "runlog/rundir.h"
#include "runlog/runlog.h"
#include "train/snapshot.h"
#include "flags/workers.h"

typedef struct flags {
    const char *solver, *run_dir;
} flags_t;

static flags_t             flags;
static const fire_option_t options[] = {
    FIRE_OPTION(flags_t, solver, PATH, "", "FILE",
                "the solver (.prototxt) that all points vary"),
    FIRE_OPTION(flags_t, run_dir, PATH, "", "DIR",
                "where each point keeps its run, as DIR/batchN_lrX"),
    {0},
};

static grid_flags_t        grid_flags;
static const fire_option_t grid_options[] = {
    FIRE_OPTION(grid_flags_t, batches, STRING, "", "LIST",
                "global batch sizes (default: the net's)"),
    FIRE_OPTION(grid_flags_t, rates, STRING, "", "LIST",
                "learning rates, for the net's own batch size (default: the solver's "
                "base_lr)"),
    FIRE_OPTION(grid_flags_t, scaling, STRING, "linear", "RULE",
                "how the rate follows the batch: linear, sqrt or none"),
    FIRE_OPTION(grid_flags_t, hold, STRING, "epochs", "WHAT",
                "what all points have in common: epochs (intervals, steps and warm-up "
                "shrink as batches grow) or iterations"),
    {0},
};

static const fire_option_group_t groups[] = {
    {"Flags", options, &flags},
    {"Grid", grid_options, &grid_flags},
    {"Net", place_options, &net_flags},
    {"Workers", workers_options, &workers_flags},
    {"FireCaffe's own settings (in the solver file: fire { ... })", fire_flag_options,
     &fire_flags},
    {0},
};

/* A worker that has finished waits for those that still train. Where one of them is
 * killed, its launcher ends the others; this is for one that hangs. */
static const double MOST_SECONDS_BETWEEN_SIGNS = 3600;

typedef struct job {
    grid_t                 grid;
    fire_trainer_options_t options;
} job_t;

/* One training, for the trainer's callbacks. */
typedef struct session {
    const fire_worker_t *worker;
    fire_runlog_t       *log;
    bool                 diverged;
    fire_status_t        peers; /* what other workers let us know */
} session_t;

/* ---- one point ---- */

static fire_action_t requested(void *arg)
{
    const session_t *s = arg;

    return stop_asked || s->diverged || s->peers < 0 ? FIRE_STOP : FIRE_GO_ON;
}

static void on_event(void *arg, const fire_train_event_t *e)
{
    session_t *s = arg;

    if (e->kind == FIRE_TRAIN_ITERATION) {
        s->diverged |= !isfinite(e->loss);
        if (s->worker->rank == 0)
            console_progress("Training", e->iter, e->max_iter, fire_log_context().name);
    }
    if (s->worker->comm != NULL && s->peers >= 0)
        s->peers = fire_comm_poll(s->worker->comm);
    fire_runlog_event(s->log, e);
}

/* As `train` would have been called: `train --repeat` does the point again. */
static fire_status_t open_log(const char *dir, const fire_trainer_t *t, bool goes_on,
                              fire_runlog_t **log_p)
{
    char                 *path, *solver = NULL, threads[32];
    const char           *words[] = {"firecaffe", "train", "--solver", NULL,
                                     "--run_dir", dir,     threads};
    fire_runlog_options_t o       = {.append = goes_on, .kind = "train"};
    fire_status_t         st;

    snprintf(threads, sizeof(threads), "--threads=%d", fire_trainer_ctx(t)->threads);
    FIRE_TRY(fire_asprintf(&path, "%s/run.jsonl", dir));
    st       = fire_asprintf(&solver, "%s/solver.prototxt", dir);
    words[3] = solver;
    o.path   = path;
    o.argc   = sizeof(words) / sizeof(words[0]);
    o.argv   = words;
    if (st >= 0) st = fire_runlog_open(&o, t, log_p);
    fire_free(solver);
    fire_free(path);
    return st;
}

/* From the newest snapshot, or from the beginning if there is none. */
static fire_status_t load(fire_trainer_t *t, const Caffe__SolverParameter *p,
                          const char *newest)
{
    if (newest != NULL) return fire_trainer_restore(t, newest);
    for (size_t i = 0; i < p->n_weights; i++)
        FIRE_TRY(fire_trainer_load_weights(t, p->weights[i]));
    return FIRE_OK;
}

static fire_status_t train(const job_t *job, const char *dir,
                           const Caffe__SolverParameter *p, const fire_worker_t *worker)
{
    fire_trainer_options_t o       = job->options;
    session_t              session = {.worker = worker};
    fire_trainer_t        *trainer = NULL;
    char                  *newest  = NULL;
    fire_status_t          st;

    o.ctx.threads = worker->threads;
    o.measure     = true;
    o.arg         = &session;
    o.action      = requested;
    o.event       = on_event;
    FIRE_TRY(fire_dir_make(dir));
    FIRE_TRY(fire_snapshot_find(p->snapshot_prefix, 0, &newest));
    st = fire_run_dir_prepare(dir, newest != NULL, p);
    if (st >= 0) st = gpu_flags_open(worker->rank, &o.ctx);
    if (st >= 0) st = fire_trainer_create(p, &o, &trainer);
    if (st >= 0) st = load(trainer, p, newest);
    if (st >= 0) st = open_log(dir, trainer, newest != NULL, &session.log);
    if (st >= 0) st = fire_trainer_solve(trainer);
    fire_runlog_close(session.log, st);
    fire_trainer_destroy(trainer);
    gpu_flags_close(&o.ctx);
    fire_free(newest);
    return session.peers < 0 ? session.peers : st;
}

/* Results of other settings are not to be taken for those of these. */
static fire_status_t check_settings(const char *dir, const Caffe__SolverParameter *p)
{
    ProtobufCMessage *then = NULL, *now = NULL;
    char             *path;
    fire_status_t     st;

    FIRE_TRY(fire_asprintf(&path, "%s/solver.prototxt", dir));
    if (access(path, F_OK) != 0) {
        fire_free(path);
        return FIRE_OK;
    }
    st = fire_message_load_text(path, &caffe__solver_parameter__descriptor, &then);
    if (st >= 0) st = fire_message_copy(p, &now);
    if (st >= 0) {
        fire_message_clear_field(then, "snapshot_prefix"); /* it may have moved */
        fire_message_clear_field(now, "snapshot_prefix");
        if (!fire_message_equal(then, now))
            st = FIRE_FAIL(FIRE_ERR_INVALID,
                           "\"%s\" holds a run with other settings; give another "
                           "--run_dir, or remove it",
                           dir);
    }
    fire_message_free(then);
    fire_message_free(now);
    fire_free(path);
    return st;
}

static fire_status_t run_point(const job_t *job, int point, const fire_worker_t *worker)
{
    Caffe__SolverParameter *p   = NULL;
    char                   *dir = NULL;
    fire_status_t           st;

    FIRE_TRY_GOTO(st, grid_dir(&job->grid, point, &dir), out);
    FIRE_TRY_GOTO(st, grid_solver(&job->grid, point, &p), out);
    FIRE_TRY_GOTO(st, check_settings(dir, p), out);
    st = train(job, dir, p, worker);
out:
    fire_message_free(p);
    fire_free(dir);
    return st;
}

/* ---- a worker's share ---- */

/* While it trains, a point says only what is wrong. */
static void speak_as(const grid_t *g, int point, fire_log_level_t least)
{
    fire_log_context_t context = {.least = least};

    grid_name(g, point, context.name);
    fire_log_set_context(&context);
}

/* A point that fails is no reason not to try the others. */
static fire_status_t try_point(const job_t *job, int point, const fire_worker_t *worker)
{
    double        began = fire_clock_now();
    fire_status_t st;
    result_t      r;

    speak_as(&job->grid, point, FIRE_INFO);
    FIRE_LOG(INFO, "training");
    speak_as(&job->grid, point, FIRE_WARNING);
    st = run_point(job, point, worker);
    speak_as(&job->grid, point, FIRE_INFO);
    if (st == FIRE_ERR_PEER || st == FIRE_ERR_NOMEM) return st;
    if (st < 0) {
        FIRE_LOG(ERROR, "%s", fire_last_error());
        return FIRE_OK;
    }
    FIRE_TRY(result_read(&job->grid, point, &r));
    FIRE_LOG(INFO, "%s %g after %lld iterations, %.1f s", r.measure, r.last,
             (long long)r.iter, fire_clock_now() - began);
    return FIRE_OK;
}

/* Which points are finished, as the first worker sees it. */
static fire_status_t find_open(const job_t *job, const fire_worker_t *w, int *open,
                               int *n_p)
{
    result_t      r;
    fire_status_t st = FIRE_OK;
    int           n = 0, points = grid_points(&job->grid);

    for (int i = 0; w->rank == 0 && i < points && st >= 0; i++) {
        st = result_read(&job->grid, i, &r);
        if (st >= 0 && r.outcome != POINT_DONE && r.outcome != POINT_DIVERGED)
            open[n++] = i;
    }
    if (w->comm != NULL) {
        FIRE_TRY(fire_comm_agree(w->comm, st));
        FIRE_TRY(fire_comm_broadcast(w->comm, 0, &n, sizeof(n)));
        st = fire_comm_broadcast(w->comm, 0, open, (size_t)points * sizeof(*open));
    }
    if (w->rank == 0 && n < points)
        FIRE_LOG(INFO, "%d of %d points are finished already", points - n, points);
    *n_p = n;
    return st;
}

static fire_status_t tabulate(const grid_t *g)
{
    result_t     *r;
    fire_status_t st;
    int           n = grid_points(g), finished = 0;

    FIRE_TRY(FIRE_NEW(&r, n));
    st = FIRE_OK;
    for (int i = 0; i < n && st >= 0; i++) {
        st = result_read(g, i, &r[i]);
        finished += r[i].outcome == POINT_DONE || r[i].outcome == POINT_DIVERGED;
    }
    if (st >= 0) results_print(g, r);
    if (st >= 0) st = results_save(g, r);
    fire_free(r);
    if (st < 0 || finished == n || stop_asked) return st;
    return FIRE_FAIL(FIRE_ERR_INVALID, "%d of %d points have failed; see above",
                     n - finished, n);
}

/* Neighbours on the grid take about as long: dealing them out one by one is fair. */
static fire_status_t work(void *arg, const fire_worker_t *w)
{
    const job_t       *job     = arg;
    fire_log_context_t context = fire_log_context();
    int               *open, n = 0, all = w->comm != NULL ? fire_comm_size(w->comm) : 1;
    fire_status_t      st;

    FIRE_TRY(FIRE_NEW(&open, grid_points(&job->grid)));
    st = find_open(job, w, open, &n);
    for (int k = w->rank; k < n && st >= 0 && !stop_asked; k += all)
        st = try_point(job, open[k], w);
    fire_free(open);
    console_progress_end();
    fire_log_set_context(&context);
    if (w->comm != NULL) st = fire_comm_agree(w->comm, st);
    return st >= 0 && w->rank == 0 ? tabulate(&job->grid) : st;
}

/* ---- the command ---- */

static fire_status_t load_solver(job_t *job, Caffe__SolverParameter **param_p)
{
    FIRE_TRY(fire_flags_load_solver(flags.solver, param_p));
    gpu_flags_adopt(*param_p);
    return (*param_p)->fire == NULL
               ? FIRE_OK
               : gpu_flags_precision((*param_p)->fire->precision, &job->options.ctx);
}

static fire_status_t prepare(job_t *job)
{
    Caffe__SolverParameter *param = NULL;
    fire_status_t           st;

    if (flags.solver[0] == '\0' || flags.run_dir[0] == '\0')
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "sweep needs --solver FILE and --run_dir DIR (examples: "
                         "firecaffe sweep --help)");
    stop_on(SIGINT, SA_RESTART);
    stop_on(SIGUSR2, SA_RESTART); /* mpirun hands it on, but not SIGINT */
    FIRE_TRY(net_flags_ctx(&job->options.ctx));
    FIRE_TRY(net_flags_stages(&job->options.nstage, &job->options.stage));
    job->options.level = (int)net_flags.level;
    st                 = load_solver(job, &param);
    if (st < 0) {
        fire_message_free(param);
        return st;
    }
    FIRE_TRY(grid_open(flags.run_dir, param, &grid_flags, &job->grid));
    return fire_dir_make(flags.run_dir);
}

static fire_status_t run(int narg, const char *const *arg)
{
    job_t          job     = {.options = FIRE_TRAINER_OPTIONS_INIT};
    fire_workers_t workers = {.comm    = FIRE_COMM_OPTIONS_INIT,
                              .threads = (int)net_flags.threads};
    fire_status_t  st      = prepare(&job);

    (void)narg, (void)arg;
    workers.comm.timeout = MOST_SECONDS_BETWEEN_SIGNS;
    st                   = workers_run(&workers, st, work, &job);
    net_flags_free_stages(job.options.stage);
    grid_close(&job.grid);
    return st;
}

const command_t command_sweep = {
    .name      = "sweep",
    .arguments = "--solver FILE --run_dir DIR",
    .summary   = "train a grid of batch sizes and learning rates",
    .help      = "Trains the solver's net once for each batch size and learning rate,\n"
                 "and prints a table of what the test net reached; DIR/sweep.csv holds\n"
                 "more. Points are dealt out to the workers: threads of this process,\n"
                 "or processes under mpirun or srun. A point keeps its run in\n"
                 "DIR/batchN_lrX as `train --run_dir` does.\n"
                 "\n"
                 "Started again, a sweep trains only what is not finished, from the\n"
                 "newest snapshots where there are some. Ctrl-C writes snapshots and\n"
                 "stops.\n"
                 "\n"
                 "Examples:\n"
                 "  firecaffe sweep --solver models/lenet/solver.prototxt \\\n"
                 "      --run_dir runs/sweep --batches 64,256,1024 \\\n"
                 "      --rates 0.005,0.01,0.02\n"
                 "  firecaffe sweep --solver solver.prototxt --run_dir runs/warm \\\n"
                 "      --batches 256,1024,4096 --scaling sqrt --warmup_iter 500 \\\n"
                 "      --workers 2\n"
                 "  mpirun -n 16 firecaffe sweep --solver solver.prototxt \\\n"
                 "      --run_dir runs/lars --batches 1024,8192 --rates 0.5,1,2,4 \\\n"
                 "      --adapt lars\n"
                 "  firecaffe report runs/sweep/* -o sweep.html\n",
    .groups    = groups,
    .run       = run,
};
