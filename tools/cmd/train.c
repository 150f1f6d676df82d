/* firecaffe train - trains, fine-tunes or resumes, as `caffe train` does. */
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "command.h"
#include "view/console.h"
#include "flags/fire.h"
#include "flags/gpu.h"
#include "flags/launch.h"
#include "model/message.h"
#include "flags/net.h"
#include "flags/run.h"
#include "view/summary.h"
#include "view/timing.h"
#include "train/settings.h"
#include "train/snapshot/memory.h"
#include "train/trainer.h"
#include "flags/workers.h"

typedef struct flags {
    const char *solver, *snapshot, *weights, *sigint_effect, *sighup_effect;
    bool        timing;
} flags_t;

static flags_t             flags;
static const fire_option_t options[] = {
    FIRE_OPTION(flags_t, solver, PATH, "", "FILE",
                "train with this solver file (.prototxt)"),
    FIRE_OPTION(
        flags_t, snapshot, PATH, "", "FILE",
        "resume from this .solverstate or .solverstate.h5; auto: from the newest"),
    FIRE_OPTION(flags_t, weights, PATH, "", "FILES",
                "start from the weights of these models, separated by commas"),
    FIRE_OPTION_OF(flags_t, sigint_effect, STRING, "stop", "WHAT", "stop snapshot none",
                   "on Ctrl-C: stop (after a snapshot), snapshot, or none"),
    FIRE_OPTION_OF(flags_t, sighup_effect, STRING, "snapshot", "WHAT",
                   "snapshot stop none", "on SIGHUP: snapshot, stop or none"),
    FIRE_OPTION(flags_t, timing, BOOL, "false", NULL,
                "log the milliseconds of every layer at each display"),
    {0},
};

static const fire_option_group_t groups[] = {
    {"Flags", options, &flags},
    {"Net", place_options, &net_flags},
    {"Workers", workers_options, &workers_flags},
    {"Launching workers", launch_options, &launch_flags},
    {"Output of the run", run_options, &run_flags},
    {"FireCaffe's settings (in the solver file: fire { ... })", fire_flag_options,
     &fire_flags},
    {0},
};

/* ---- signals ---- */

/* Set by the signal handler; the worker that reads a flag first, once per iteration,
 * clears it. */
static atomic_int got_sigint, got_sighup, got_stop, got_snapshot;

/* mpirun forwards SIGUSR1 and SIGUSR2, but neither SIGINT nor SIGHUP. Who asks to end a
 * second time does not want to wait for a snapshot. */
static void on_signal(int number)
{
    if (number == SIGINT) got_sigint = 1;
    if (number == SIGHUP) got_sighup = 1;
    if (number == SIGUSR1) got_snapshot = 1;
    if (number == SIGUSR2 || number == SIGTERM) got_stop = 1;
    if (number == SIGTERM) signal(number, SIG_DFL);
}

static fire_status_t effect_of(const char *flag, const char *text,
                               fire_action_t *effect_p)
{
    static const char *const   names[]   = {"none", "snapshot", "stop"};
    static const fire_action_t effects[] = {FIRE_GO_ON, FIRE_SNAPSHOT, FIRE_STOP};

    for (int i = 0; i < 3; i++)
        if (strcmp(text, names[i]) == 0) {
            *effect_p = effects[i];
            return FIRE_OK;
        }
    return FIRE_FAIL(FIRE_ERR_INVALID, "--%s is snapshot, stop or none, not \"%s\"",
                     flag, text);
}

/* Settings from flags and solver file, the same for all workers. */
typedef struct job {
    Caffe__SolverParameter *param;
    fire_trainer_options_t  options;
    fire_action_t           sigint, sighup;
    char                   *control; /* the file that options.control names */
} job_t;

/* State of the trainer's callbacks, one per worker. */
typedef struct session {
    const job_t *job;
    fire_runlog_t
          *log; /* NULL until the trainer is ready, or without --run_dir and the like */
    double began;
    int64_t   first; /* iteration at which it began */
    double    loss;
    bool      has_loss;
    summary_t summary;
    timing_t  timing;
} session_t;

static fire_status_t catch_signals(job_t *j)
{
    static const int numbers[] = {SIGINT, SIGHUP, SIGUSR1, SIGUSR2, SIGTERM};
    struct sigaction act       = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    /* where a launcher ends the others of a broken job, none is to wait */
    int n = launch_flags.supervised ? 4 : 5;

    FIRE_TRY(effect_of("sigint_effect", flags.sigint_effect, &j->sigint));
    FIRE_TRY(effect_of("sighup_effect", flags.sighup_effect, &j->sighup));
    sigfillset(&act.sa_mask);
    for (int i = 0; i < n; i++)
        if (sigaction(numbers[i], &act, NULL) != 0)
            return FIRE_FAIL(FIRE_ERR_INVALID, "cannot install signal handlers");
    return FIRE_OK;
}

static fire_action_t requested(void *arg)
{
    const session_t *s = arg;

    if (atomic_exchange(&got_stop, 0)) return FIRE_STOP;
    if (atomic_exchange(&got_snapshot, 0)) return FIRE_SNAPSHOT;
    if (atomic_exchange(&got_sigint, 0)) return s->job->sigint;
    if (atomic_exchange(&got_sighup, 0)) return s->job->sighup;
    return FIRE_GO_ON;
}

/* ---- progress ---- */

static void show_progress(const session_t *s, const fire_train_event_t *e)
{
    char   detail[96] = "";
    double seconds    = fire_clock_now() - s->began;
    int    n          = 0;

    if (e->iter <= s->first || seconds <= 0) return;
    if (s->has_loss) n = snprintf(detail, sizeof(detail), "loss %.4g  ", s->loss);
    snprintf(detail + n, sizeof(detail) - (size_t)n, "%.0f images/s",
             (double)((e->iter - s->first) * e->batch) / seconds);
    console_progress("Training", e->iter - s->first, e->max_iter - s->first, detail);
}

static void on_event(void *arg, const fire_train_event_t *e)
{
    session_t *s = arg;

    if (e->kind == FIRE_TRAIN_START) {
        s->began = fire_clock_now();
        s->first = e->iter;
    } else if (e->kind == FIRE_TRAIN_DISPLAY) {
        s->loss          = e->loss;
        s->has_loss      = true;
        s->timing.is_due = flags.timing;
    } else if (e->kind == FIRE_TRAIN_ITERATION) {
        show_progress(s, e);
    } else if (e->kind == FIRE_TRAIN_DONE) {
        console_progress_end();
    }
    if (s->log != NULL) fire_train_log_event(s->log, e);
}

static void on_measured(void *arg, const fire_measured_t *m)
{
    session_t *s = arg;

    summary_add(&s->summary, m);
    if (flags.timing && timing_add(&s->timing, m) < 0)
        FIRE_LOG(WARNING, "--timing: %s", fire_last_error());
    if (s->log != NULL) fire_runlog_add_measured(s->log, m);
}

/* ---- the run ---- */

/* Or begins again after a failure. */
static bool resumes(void)
{
    return flags.snapshot[0] != '\0' || launch_flags.attempt > 0;
}

static fire_status_t load_weights(fire_trainer_t *t, const Caffe__SolverParameter *p)
{
    if (flags.weights[0] != '\0') return fire_trainer_load_weights(t, flags.weights);
    for (size_t i = 0; i < p->n_weights; i++)
        FIRE_TRY(fire_trainer_load_weights(t, p->weights[i]));
    return FIRE_OK;
}

/* Load weights or a solver state, as the flags say. */
static fire_status_t load(fire_trainer_t *t, const Caffe__SolverParameter *param)
{
    bool found;

    if (strcmp(flags.snapshot, "auto") == 0)
        FIRE_TRY(fire_trainer_resume(t, &found));
    else if (launch_flags.attempt > 0)
        FIRE_TRY(fire_trainer_recover(t, flags.snapshot, &found));
    else if ((found = flags.snapshot[0] != '\0'))
        FIRE_TRY(fire_trainer_restore(t, flags.snapshot));
    return found ? FIRE_OK : load_weights(t, param);
}

/* A table of times is for several workers or a GPU; one worker on a CPU waits for
 * nobody. */
static bool is_worth_a_table(const fire_trainer_t *t)
{
    return fire_trainer_size(t) > 1 || fire_trainer_ctx(t)->place == FIRE_GPU;
}

static fire_status_t solve(fire_trainer_t *t, session_t *s)
{
    fire_status_t st;

    if (fire_trainer_rank(t) == 0) FIRE_TRY(run_flags_open(t, resumes(), &s->log));
    FIRE_LOG(INFO, "Starting Optimization");
    st = fire_trainer_solve(t);
    fire_runlog_close(s->log, st);
    if (st >= 0 && is_worth_a_table(t)) summary_log(&s->summary, fire_trainer_comm(t));
    if (st >= 0) FIRE_LOG(INFO, "Optimization Done.");
    return st;
}

/* Train as one worker. Rank 0 logs and writes files; any rank may receive a signal. */
static fire_status_t train(void *arg, const fire_worker_t *worker)
{
    const job_t           *job     = arg;
    fire_trainer_options_t o       = job->options;
    fire_trainer_t        *trainer = NULL;
    session_t              session = {.job = job};
    run_locks_t            locks   = {0};
    fire_status_t          st      = FIRE_OK;

    o.ctx.threads = worker->threads;
    o.comm        = worker->comm;
    o.arg         = &session;
    o.action      = requested;
    o.measure |= worker->comm != NULL || flags.timing;
    if (worker->rank == 0) {
        o.event    = on_event;
        o.measured = on_measured;
        st         = run_flags_lock(job->param, &locks);
        if (st >= 0) st = run_flags_prepare(job->param, resumes());
    }
    if (st >= 0) st = gpu_flags_open(worker->rank, &o.ctx);
    o.measure |= o.ctx.place == FIRE_GPU;
    if (worker->comm != NULL) st = fire_comm_agree(worker->comm, st);
    if (st >= 0) st = fire_trainer_create(job->param, &o, &trainer);
    if (st >= 0) st = load(trainer, job->param);
    if (st >= 0) st = solve(trainer, &session);
    fire_trainer_destroy(trainer);
    gpu_flags_close(&o.ctx);
    summary_fini(&session.summary);
    timing_fini(&session.timing);
    run_flags_unlock(&locks);
    return st;
}

static fire_status_t check_flags(void)
{
    if (flags.solver[0] == '\0')
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "Need a solver definition to train: --solver "
                         "FILE (examples: firecaffe train --help)");
    if (flags.snapshot[0] != '\0' && flags.weights[0] != '\0')
        return FIRE_FAIL(FIRE_ERR_INVALID, "--snapshot resumes a training, --weights "
                                           "begins one from a model: give one of them");
    return FIRE_OK;
}

/* Where a training may be started again, its state is kept in memory, unless the user
 * says something else. */
static fire_status_t choose_memory(const job_t *job)
{
    Caffe__FireParameter *f;

    if (launch_flags.attempt < 0) return FIRE_OK;
    FIRE_TRY(fire_message_add_message(job->param, "fire", &f));
    if (f->has_memory_snapshot) return FIRE_OK;
    f->has_memory_snapshot = true;
    f->memory_snapshot     = FIRE_MEMORY_AUTO;
    return FIRE_OK;
}

/* With several GPUs there is one worker for each, unless --workers is given. */
static fire_status_t choose_gpus(job_t *job)
{
    int n;

    gpu_flags_adopt(job->param);
    FIRE_TRY(gpu_flags_count(&n));
    if (n > 1 && workers_flags.workers == 1) workers_flags.workers = n;
    if (job->param->fire == NULL) return FIRE_OK;
    /* Tuning may choose another algorithm on each run: not if runs must be repeatable.
     * */
    job->options.ctx.deterministic = job->param->fire->deterministic;
    job->options.ctx.tune = job->param->fire->tune || !job->param->fire->deterministic;
    return fire_ctx_set_precision(&job->options.ctx, job->param->fire->precision);
}

static fire_status_t prepare(job_t *job)
{
    FIRE_TRY(run_flags_repeat());
    FIRE_TRY(check_flags());
    FIRE_TRY(catch_signals(job));
    net_flags.lean = true;
    FIRE_TRY(net_flags_ctx(&job->options.ctx));
    FIRE_TRY(net_flags_stages(&job->options.nstage, &job->options.stage));
    job->options.level = (int)net_flags.level;
    FIRE_TRY(fire_flags_load_solver(flags.solver, &job->param));
    FIRE_TRY(choose_gpus(job));
    FIRE_TRY(choose_memory(job));
    run_flags_measure(&job->options);
    FIRE_TRY(run_flags_control(&job->control));
    job->options.control = job->control;
    return run_flags_adopt(job->param);
}

static fire_workers_t describe_workers(const Caffe__SolverParameter *param)
{
    static const Caffe__FireParameter defaults = CAFFE__FIRE_PARAMETER__INIT;
    const Caffe__FireParameter       *f        = &defaults;
    fire_workers_t                    w        = {.comm = FIRE_COMM_OPTIONS_INIT};

    if (param != NULL && param->fire != NULL) f = param->fire;
    w.threads             = fire_settings_threads(f, (int)net_flags.threads);
    w.comm.timeout        = (double)f->deadline;
    w.comm.tuning         = f->tuning;
    w.comm.onesided       = strcmp(f->comm, "onesided") == 0;
    w.comm.ranks_per_node = (int)workers_flags.ranks_per_node;
    return w;
}

static fire_status_t launch(const job_t *job)
{
    const Caffe__FireParameter *f      = job->param->fire;
    const char                 *prefix = job->param->snapshot_prefix;

    FIRE_TRY(run_flags_make_dir()); /* snapshots are looked for in it */
    return launch_run(
        (fire_launch_t){.prefix       = prefix != NULL ? prefix : "snapshot",
                        .lanes        = f != NULL ? (int)f->lanes : 0,
                        .deadline     = describe_workers(job->param).comm.timeout,
                        .on_interrupt = job->sigint,
                        .on_hangup    = job->sighup});
}

static fire_status_t run(int narg, const char *const *arg)
{
    job_t          job = {.options = FIRE_TRAINER_OPTIONS_INIT};
    fire_workers_t workers;
    fire_status_t  st = prepare(&job);

    (void)narg, (void)arg;
    workers = describe_workers(job.param);
    if (launch_is_wanted())
        st = st >= 0 ? launch(&job) : st;
    else
        st = workers_run(&workers, st, train, &job);
    net_flags_free_stages(job.options.stage);
    fire_message_free(job.param);
    fire_free(job.control);
    return st;
}

const command_t command_train = {
    .name      = "train",
    .arguments = "--solver FILE",
    .summary   = "train, fine-tune or resume a net",
    .help   = "Trains the net that the solver file names, tests it at intervals and\n"
              "writes snapshots. Caffe's solver and net files work unchanged.\n"
              "\n"
              "Ctrl-C, SIGTERM and SIGUSR2 write a snapshot and stop. SIGHUP and\n"
              "SIGUSR1 write a snapshot and continue.\n"
              "\n"
              "Examples:\n"
              "  firecaffe train --solver models/lenet/solver.prototxt\n"
              "  firecaffe train --solver solver.prototxt \\\n"
              "      --weights trained.caffemodel\n"
              "  firecaffe train --solver solver.prototxt \\\n"
              "      --snapshot lenet_iter_5000.solverstate\n"
              "  firecaffe train --solver solver.prototxt --run_dir runs/first\n"
              "  firecaffe train --repeat runs/first\n"
              "  firecaffe train --solver solver.prototxt --workers 4\n"
              "  mpirun -n 16 firecaffe train --solver solver.prototxt\n"
              "  firecaffe train --solver solver.prototxt --workers 16 \\\n"
              "      --restarts 5 --launcher \"mpirun --hostfile hosts\"\n",
    .groups = groups,
    .run    = run,
};
