/* firecaffe train - trains, fine-tunes or resumes, as `caffe train` does. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include "base/clock.h"
#include "base/log.h"
#include "command.h"
#include "console.h"
#include "fire_flags.h"
#include "model/load.h"
#include "net_flags.h"
#include "train/trainer.h"

typedef struct flags {
    const char *solver, *snapshot, *weights, *sigint_effect, *sighup_effect;
} flags_t;

static flags_t             flags;
static const fire_option_t options[] = {
    FIRE_OPTION(flags_t, solver, STRING, "", "FILE", "the solver (.prototxt)"),
    FIRE_OPTION(flags_t, snapshot, STRING, "", "FILE",
                "resume from this .solverstate or .solverstate.h5"),
    FIRE_OPTION(flags_t, weights, STRING, "", "FILES",
                "fine-tune from these models, comma separated"),
    FIRE_OPTION(flags_t, sigint_effect, STRING, "stop", "WHAT",
                "on Ctrl-C: snapshot, stop (with a snapshot) or none"),
    FIRE_OPTION(flags_t, sighup_effect, STRING, "snapshot", "WHAT",
                "on SIGHUP: snapshot, stop or none"),
    {0},
};

static const fire_option_group_t groups[] = {
    {"Flags", options, &flags},
    {"Net", place_options, &net_flags},
    {"FireCaffe's own settings (in the solver file: fire { ... })", fire_flag_options,
     &fire_flags},
    {0},
};

/* ---- signals ---- */

/* Set by the handler, taken by the trainer once per iteration. */
static volatile sig_atomic_t got_sigint, got_sighup;

static void on_signal(int number)
{
    if (number == SIGINT) got_sigint = 1;
    if (number == SIGHUP) got_sighup = 1;
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

typedef struct effects {
    fire_action_t sigint, sighup;
} effects_t;

static fire_status_t catch_signals(effects_t *e)
{
    struct sigaction act = {.sa_handler = on_signal, .sa_flags = SA_RESTART};

    FIRE_TRY(effect_of("sigint_effect", flags.sigint_effect, &e->sigint));
    FIRE_TRY(effect_of("sighup_effect", flags.sighup_effect, &e->sighup));
    sigfillset(&act.sa_mask);
    if (sigaction(SIGINT, &act, NULL) != 0 || sigaction(SIGHUP, &act, NULL) != 0)
        return FIRE_FAIL(FIRE_ERR_INVALID, "cannot install signal handlers");
    return FIRE_OK;
}

static fire_action_t requested(void *arg)
{
    const effects_t *e = arg;

    if (got_sigint) {
        got_sigint = 0;
        return e->sigint;
    }
    if (got_sighup) {
        got_sighup = 0;
        return e->sighup;
    }
    return FIRE_GO_ON;
}

/* ---- progress ---- */

static struct {
    double  began;
    int64_t first; /* iteration at which it began */
    double  loss;
    bool    has_loss;
} seen;

static void on_event(void *arg, const fire_train_event_t *e)
{
    char   detail[96] = "";
    double seconds    = fire_clock_now() - seen.began;
    int    n          = 0;

    (void)arg;
    if (e->kind == FIRE_TRAIN_START) {
        seen.began = fire_clock_now();
        seen.first = e->iter;
    } else if (e->kind == FIRE_TRAIN_DISPLAY) {
        seen.loss     = e->loss;
        seen.has_loss = true;
    } else if (e->kind == FIRE_TRAIN_ITERATION && e->iter > seen.first && seconds > 0) {
        if (seen.has_loss)
            n = snprintf(detail, sizeof(detail), "loss %.4g  ", seen.loss);
        snprintf(detail + n, sizeof(detail) - (size_t)n, "%.0f images/s",
                 (double)((e->iter - seen.first) * e->batch) / seconds);
        console_progress("Training", e->iter - seen.first, e->max_iter - seen.first,
                         detail);
    } else if (e->kind == FIRE_TRAIN_DONE) {
        console_progress_end();
    }
}

/* ---- the run ---- */

static fire_status_t load_weights(fire_trainer_t *t, const Caffe__SolverParameter *p)
{
    if (flags.weights[0] != '\0') return fire_trainer_load_weights(t, flags.weights);
    for (size_t i = 0; i < p->n_weights; i++)
        FIRE_TRY(fire_trainer_load_weights(t, p->weights[i]));
    return FIRE_OK;
}

static fire_status_t train(Caffe__SolverParameter *param)
{
    fire_trainer_options_t o       = FIRE_TRAINER_OPTIONS_INIT;
    fire_trainer_t        *trainer = NULL;
    effects_t              effects;
    fire_status_t          st;

    FIRE_TRY(catch_signals(&effects));
    FIRE_TRY(net_flags_ctx(&o.ctx));
    FIRE_TRY(net_flags_stages(&o.nstage, &o.stage));
    o.level  = (int)net_flags.level;
    o.arg    = &effects;
    o.action = requested;
    o.event  = on_event;
    FIRE_TRY_GOTO(st, fire_trainer_create(param, &o, &trainer), done);
    if (flags.snapshot[0] != '\0') {
        FIRE_LOG(INFO, "Resuming from %s", flags.snapshot);
        FIRE_TRY_GOTO(st, fire_trainer_restore(trainer, flags.snapshot), done);
    } else {
        FIRE_TRY_GOTO(st, load_weights(trainer, param), done);
    }
    FIRE_LOG(INFO, "Starting Optimization");
    FIRE_TRY_GOTO(st, fire_trainer_solve(trainer), done);
    FIRE_LOG(INFO, "Optimization Done.");
done:
    fire_trainer_destroy(trainer);
    net_flags_free_stages(o.stage);
    return st;
}

static fire_status_t run(int narg, const char *const *arg)
{
    Caffe__SolverParameter *param;
    fire_status_t           st;

    (void)narg, (void)arg;
    if (flags.solver[0] == '\0')
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "Need a solver definition to train: --solver "
                         "FILE (examples: firecaffe train --help)");
    if (flags.snapshot[0] != '\0' && flags.weights[0] != '\0')
        return FIRE_FAIL(FIRE_ERR_INVALID, "--snapshot resumes a training, --weights "
                                           "begins one from a model: give one of them");
    FIRE_TRY(fire_solver_param_load(flags.solver, &param));
    st = fire_flags_apply(param);
    if (st >= 0) st = train(param);
    fire_message_free(param);
    return st;
}

const command_t command_train = {
    .name      = "train",
    .arguments = "--solver FILE",
    .summary   = "train, fine-tune or resume",
    .help = "Trains the net that the solver file names, tests it now and then, writes\n"
            "snapshots. Caffe's solver, net and data files work as they are.\n"
            "\n"
            "Examples:\n"
            "  firecaffe train --solver models/lenet/solver.prototxt\n"
            "  firecaffe train --solver solver.prototxt --weights trained.caffemodel\n"
            "  firecaffe train --solver solver.prototxt --snapshot "
            "lenet_iter_5000.solverstate\n"
            "\n"
            "Ctrl-C writes a snapshot and stops; `kill -HUP` writes one and goes on.\n",
    .groups = groups,
    .run    = run,
};
