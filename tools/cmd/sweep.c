/* firecaffe sweep - trains a grid of batch sizes and learning rates, one training per
 * worker at a time, and prints a table of the results (src/sweep/sweep.h). */
#include <signal.h>
#include <stdio.h>
#include "base/alloc.h"
#include "base/file.h"
#include "command.h"
#include "view/console.h"
#include "flags/fire.h"
#include "flags/gpu.h"
#include "flags/net.h"
#include "stop.h"
#include "sweep/sweep.h"
#include "flags/workers.h"

typedef struct flags {
    const char *solver, *run_dir;
} flags_t;

static flags_t             flags;
static const fire_option_t options[] = {
    FIRE_OPTION(flags_t, solver, PATH, "", "FILE",
                "solver file (.prototxt) that all points vary"),
    FIRE_OPTION(flags_t, run_dir, PATH, "", "DIR",
                "write the run of each point to DIR/batchN_lrX"),
    {0},
};

static fire_sweep_settings_t settings;
static const fire_option_t   grid_options[] = {
      FIRE_OPTION(fire_sweep_settings_t, batches, STRING, "", "LIST",
                  "global batch sizes, separated by commas (default: the net's)"),
      FIRE_OPTION(fire_sweep_settings_t, rates, STRING, "", "LIST",
                  "learning rates for the net's own batch size, separated by commas "
                    "(default: the solver's base_lr)"),
      FIRE_OPTION_OF(fire_sweep_settings_t, scaling, STRING, "linear", "RULE",
                     "linear sqrt none",
                     "change the rate with the batch size: linear, sqrt or none"),
      FIRE_OPTION_OF(
          fire_sweep_settings_t, hold, STRING, "epochs", "WHAT", "epochs iterations",
          "train every point for the same number of epochs (intervals, steps and "
            "warm-up shrink as batches grow) or iterations"),
      {0},
};

static const fire_option_group_t groups[] = {
    {"Flags", options, &flags},
    {"Grid", grid_options, &settings},
    {"Net", place_options, &net_flags},
    {"Workers", workers_options, &workers_flags},
    {"FireCaffe's settings (in the solver file: fire { ... })", fire_flag_options,
     &fire_flags},
    {0},
};

/* A worker that has finished waits this long for one that still trains. If a worker is
 * killed, its launcher ends the others; the limit is for a worker that hangs. */
static const double MOST_SECONDS_BETWEEN_SIGNS = 3600;

typedef struct job {
    fire_sweep_t     sweep;
    fire_sweep_run_t run;
} job_t;

/* ---- callbacks ---- */

static bool is_stopping(void *arg)
{
    (void)arg;
    return stop_asked;
}

static fire_status_t open_device(void *arg, int rank, fire_ctx_t *ctx)
{
    (void)arg;
    return gpu_flags_open(rank, ctx);
}

static void close_device(void *arg, fire_ctx_t *ctx)
{
    (void)arg;
    gpu_flags_close(ctx);
}

static void show_progress(void *arg, const char *point, int64_t iter, int64_t max_iter)
{
    (void)arg;
    console_progress("Training", iter, max_iter, point);
}

/* ---- results ---- */

static fire_status_t read_results(const fire_sweep_t *s, fire_point_result_t *r,
                                  int *finished_p)
{
    *finished_p = 0;
    for (int i = 0; i < fire_sweep_points(s); i++) {
        FIRE_TRY(fire_sweep_read_result(s, i, &r[i]));
        *finished_p += fire_point_is_finished(&r[i]);
    }
    return FIRE_OK;
}

static fire_status_t tabulate(const fire_sweep_t *s)
{
    int                  n = fire_sweep_points(s), finished = 0;
    fire_str_t           table = {0};
    fire_point_result_t *r;
    fire_status_t        st;

    FIRE_TRY(FIRE_NEW(&r, n));
    st = read_results(s, r, &finished);
    if (st >= 0) st = fire_sweep_table(s, r, &table);
    if (st >= 0) printf("%s", table.text);
    if (st >= 0) st = fire_sweep_save_csv(s, r);
    fire_str_fini(&table);
    fire_free(r);
    if (st < 0 || finished == n || stop_asked) return st;
    return FIRE_FAIL(FIRE_ERR_INVALID, "%d of %d points have failed; see above",
                     n - finished, n);
}

static fire_status_t work(void *arg, const fire_worker_t *w)
{
    const job_t  *job = arg;
    fire_status_t st  = fire_sweep_train(&job->run, w);

    console_progress_end();
    return st >= 0 && w->rank == 0 ? tabulate(&job->sweep) : st;
}

/* ---- the command ---- */

static fire_status_t load_solver(job_t *job, Caffe__SolverParameter **param_p)
{
    FIRE_TRY(fire_flags_load_solver(flags.solver, param_p));
    gpu_flags_adopt(*param_p);
    if ((*param_p)->fire == NULL) return FIRE_OK;
    return fire_ctx_set_precision(&job->run.options.ctx, (*param_p)->fire->precision);
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
    stop_on(SIGUSR2, SA_RESTART); /* mpirun forwards SIGUSR2, but not SIGINT */
    FIRE_TRY(net_flags_ctx(&job->run.options.ctx));
    FIRE_TRY(net_flags_stages(&job->run.options.nstage, &job->run.options.stage));
    job->run.options.level = (int)net_flags.level;
    st                     = load_solver(job, &param);
    if (st < 0) {
        fire_message_free(param);
        return st;
    }
    FIRE_TRY(fire_sweep_open(flags.run_dir, param, &settings, &job->sweep));
    return fire_dir_make(flags.run_dir);
}

static fire_status_t run(int narg, const char *const *arg)
{
    job_t          job     = {.run = {.sweep        = &job.sweep,
                                      .options      = FIRE_TRAINER_OPTIONS_INIT,
                                      .stop         = is_stopping,
                                      .open_device  = open_device,
                                      .close_device = close_device,
                                      .progress     = show_progress}};
    fire_workers_t workers = {.comm    = FIRE_COMM_OPTIONS_INIT,
                              .threads = (int)net_flags.threads};
    fire_status_t  st      = prepare(&job);

    (void)narg, (void)arg;
    workers.comm.timeout = MOST_SECONDS_BETWEEN_SIGNS;
    st                   = workers_run(&workers, st, work, &job);
    net_flags_free_stages(job.run.options.stage);
    fire_sweep_close(&job.sweep);
    return st;
}

const command_t command_sweep = {
    .name      = "sweep",
    .arguments = "--solver FILE --run_dir DIR",
    .summary   = "train a grid of batch sizes and learning rates",
    .help      = "Trains the solver's net once for each batch size and learning rate,\n"
                 "prints a table of the last test scores and writes DIR/sweep.csv with\n"
                 "more columns. Points are divided among the workers: threads of this\n"
                 "process, or processes under mpirun or srun. Each point has a run\n"
                 "directory, DIR/batchN_lrX, as `train --run_dir` writes it.\n"
                 "\n"
                 "Started again, sweep trains the points that are not finished, from\n"
                 "their newest snapshots. Ctrl-C writes snapshots and stops.\n"
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
