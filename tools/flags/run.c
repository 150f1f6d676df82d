/* run.c - what a training writes besides weights. */
#include "flags/run.h"

#include "base/alloc.h"
#include "base/file.h"
#include "command.h"
#include "train/run_solver.h"

run_flags_t run_flags;

const fire_option_t run_options[] = {
    FIRE_OPTION(
        run_flags_t, run_dir, PATH, "", "DIR",
        "write log, snapshots, solver and net to DIR, for `report` and `watch`"),
    FIRE_OPTION(run_flags_t, repeat, PATH, "", "DIR",
                "repeat the run of this directory with the same settings"),
    FIRE_OPTION(run_flags_t, trust, BOOL, "false", NULL,
                "with --repeat: also load the plug-ins and Python layers that the run "
                "names"),
    FIRE_OPTION(run_flags_t, trace, PATH, "", "FILE",
                "write a timeline for chrome://tracing or ui.perfetto.dev"),
    FIRE_OPTION(run_flags_t, trace_iterations, INT, "50", "N",
                "iterations in the timeline"),
    FIRE_OPTION(run_flags_t, tensorboard, PATH, "", "DIR",
                "write events for TensorBoard to DIR"),
    {0},
};

/* NULL for a flag that was not given. */
static const char *given(const char *text)
{
    return text[0] != '\0' ? text : NULL;
}

/* ---- what a training writes ---- */

fire_status_t run_flags_adopt(Caffe__SolverParameter *param)
{
    const char *dir = given(run_flags.run_dir);

    return dir != NULL ? fire_run_dir_adopt(dir, param) : FIRE_OK;
}

fire_status_t run_flags_make_dir(void)
{
    const char *dir = given(run_flags.run_dir);

    return dir != NULL ? fire_dir_make(dir) : FIRE_OK;
}

fire_status_t run_flags_lock(const Caffe__SolverParameter *param, run_locks_t *locks)
{
    const char *prefix =
        param->snapshot_prefix != NULL ? param->snapshot_prefix : "snapshot";
    char         *path;
    fire_status_t st;

    FIRE_TRY(fire_job_lock(prefix, &locks->prefix));
    if (given(run_flags.run_dir) == NULL) return FIRE_OK;
    FIRE_TRY(run_flags_make_dir());
    FIRE_TRY(fire_asprintf(&path, "%s/run", run_flags.run_dir));
    st = fire_job_lock(path, &locks->dir);
    fire_free(path);
    return st;
}

void run_flags_unlock(run_locks_t *locks)
{
    fire_job_unlock(&locks->prefix);
    fire_job_unlock(&locks->dir);
}

fire_status_t run_flags_prepare(const Caffe__SolverParameter *param, bool goes_on)
{
    const char *dir = given(run_flags.run_dir);

    return dir != NULL ? fire_run_dir_prepare(dir, goes_on, param) : FIRE_OK;
}

void run_flags_measure(fire_trainer_options_t *o)
{
    bool traced = given(run_flags.trace) != NULL;

    o->measure = traced || given(run_flags.run_dir) != NULL;
    o->trace   = traced ? run_flags.trace_iterations : 0;
}

fire_status_t run_flags_control(char **path_p)
{
    *path_p = NULL;
    if (given(run_flags.run_dir) == NULL) return FIRE_OK;
    return fire_asprintf(path_p, "%s/control", run_flags.run_dir);
}

fire_status_t run_flags_open(const fire_trainer_t *trainer, bool goes_on,
                             fire_runlog_t **log_p)
{
    fire_runlog_options_t o    = {.append      = goes_on,
                                  .trace       = given(run_flags.trace),
                                  .tensorboard = given(run_flags.tensorboard),
                                  .kind        = "train"};
    char                 *path = NULL;
    fire_status_t         st;

    if (given(run_flags.run_dir) != NULL)
        FIRE_TRY(fire_asprintf(&path, "%s/run.jsonl", run_flags.run_dir));
    o.path = path;
    if (o.path == NULL && o.trace == NULL && o.tensorboard == NULL) return FIRE_OK;
    program_arguments(&o.argc, &o.argv);
    st = fire_train_log_open(&o, trainer, log_p);
    fire_free(path);
    return st;
}
