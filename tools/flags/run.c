/* run.c - what a training writes besides weights, and --repeat. */
#include "flags/run.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/alloc.h"
#include "base/log.h"
#include "command.h"
#include "comm/transport/cluster.h"
#include "model/load.h"
#include "report/run.h"
#include "train/run_solver.h"

run_flags_t run_flags;

const fire_option_t run_options[] = {
    FIRE_OPTION(
        run_flags_t, run_dir, PATH, "", "DIR",
        "write log, snapshots, solver and net to DIR, for `report` and `watch`"),
    FIRE_OPTION(run_flags_t, repeat, PATH, "", "DIR",
                "repeat the run of this directory with the same settings"),
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

/* ---- repeating ---- */

/* The absolute path, whether the file exists or not. */
static fire_status_t absolute(const char *path, const char *suffix, char **path_p)
{
    char here[PATH_MAX];

    if (path[0] == '/') return fire_asprintf(path_p, "%s%s", path, suffix);
    if (getcwd(here, sizeof(here)) == NULL)
        return FIRE_FAIL(FIRE_ERR_IO, "cannot tell the current directory: %s",
                         strerror(errno));
    return fire_asprintf(path_p, "%s/%s%s", here, path, suffix);
}

/* Set the environment variables that limited the number of threads in that run. */
static void restore_threads(const fire_json_t *head)
{
    const fire_json_t *threads = fire_json_get(head, "threads");

    for (int64_t i = 0; threads != NULL && i < threads->n; i++)
        if (threads->item[i].kind == FIRE_JSON_STRING)
            setenv(threads->item[i].key, threads->item[i].string, 1);
}

/* Another number of workers gives the same bits only if the solver sets lanes. */
static fire_status_t check_workers(const fire_json_t *head, const char *solver)
{
    int  then = (int)fire_json_number_or(head, "workers", 1), now = fire_cluster_size();
    bool lanes;
    Caffe__SolverParameter *param;

    if (!fire_cluster_launched() || now == 0 || now == then) return FIRE_OK;
    FIRE_TRY(fire_solver_param_load(solver, &param));
    lanes = param->fire != NULL && param->fire->has_lanes;
    fire_message_free(param);
    if (lanes) return FIRE_OK;
    return FIRE_FAIL(FIRE_ERR_INVALID,
                     "the run had %d worker%s, %d processes were started: the results "
                     "would differ; start %d, or run without mpirun",
                     then, then == 1 ? "" : "s", now, then);
}

static fire_status_t check_run(const fire_json_t *head, const char *solver)
{
    const char        *kind    = fire_json_string_or(head, "kind", "train");
    const fire_json_t *command = fire_json_get(head, "command");

    if (strcmp(kind, "train") != 0)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "\"%s\" holds no training, but results of kind \"%s\"",
                         run_flags.repeat, kind);
    if (command == NULL || command->n == 0)
        return FIRE_FAIL(FIRE_ERR_PARSE, "%s: the log of the run holds no command line",
                         run_flags.repeat);
    return check_workers(head, solver);
}

/* Run the old command line with flags at its end that replace some of it: the last one
 * of a flag counts. Numbers of workers and threads are those of that run, as they
 * change the last bits. Processes of mpirun become threads, unless this runs under
 * mpirun. */
static fire_status_t start_again(const fire_json_t *head, const char *solver,
                                 const char *run_dir)
{
    const fire_json_t *command = fire_json_get(head, "command");
    char               workers[48], threads[48];
    const char        *instead[] = {"--solver",        solver,       "--run_dir",
                                    run_dir,           "--norepeat", "--notrace",
                                    "--notensorboard", workers,      threads};
    enum { INSTEAD = sizeof(instead) / sizeof(instead[0]) };
    const char   *where = fire_json_string_or(head, "directory", ".");
    char        **argv;
    int64_t       n  = 0;
    fire_status_t st = FIRE_OK;

    snprintf(workers, sizeof(workers), "--workers=%.0f",
             fire_json_number_or(head, "workers", 1));
    snprintf(threads, sizeof(threads), "--threads=%.0f",
             fire_json_number_or(head, "worker_threads", 0));
    FIRE_TRY(FIRE_NEW(&argv, command->n + INSTEAD + 1));
    while (n < command->n && command->item[n].kind == FIRE_JSON_STRING) {
        argv[n] = command->item[n].string;
        n++;
    }
    for (int i = 0; i < INSTEAD; i++)
        argv[n++] = (char *)instead[i];
    FIRE_LOG(INFO, "Repeating in %s; the new run is kept in %s", where, run_dir);
    restore_threads(head);
    if (chdir(where) != 0)
        st = FIRE_FAIL(FIRE_ERR_IO, "the run was started in \"%s\": %s", where,
                       strerror(errno));
    else if (execv("/proc/self/exe", argv) != 0)
        st = FIRE_FAIL(FIRE_ERR_IO, "cannot start the program again: %s",
                       strerror(errno));
    fire_free(argv);
    return st;
}

fire_status_t run_flags_repeat(void)
{
    fire_run_t   *run    = NULL;
    char         *solver = NULL, *run_dir = NULL;
    bool          named = given(run_flags.run_dir) != NULL;
    fire_status_t st;

    if (given(run_flags.repeat) == NULL) return FIRE_OK;
    FIRE_TRY_GOTO(st, fire_run_open(run_flags.repeat, &run), out);
    FIRE_TRY_GOTO(st, absolute(run_flags.repeat, "/solver.prototxt", &solver), out);
    FIRE_TRY_GOTO(st,
                  absolute(named ? run_flags.run_dir : run_flags.repeat,
                           named ? "" : "-repeated", &run_dir),
                  out);
    FIRE_TRY_GOTO(st, check_run(run->head, solver), out);
    st = start_again(run->head, solver, run_dir);
out:
    fire_free(solver);
    fire_free(run_dir);
    fire_run_close(run);
    return st;
}
