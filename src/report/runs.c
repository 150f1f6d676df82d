/* runs.c - opens the runs of a report and adds drawings, filters and confusion
 * matrices. */
#include "report/runs.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/alloc.h"
#include "base/file.h"
#include "base/log.h"
#include "report/graph/draw.h"
#include "model/load.h"
#include "train/run_solver.h"
#include "report/learned.h"

static const double CONFUSION_SECONDS = 30;

/* ---- the picture of the net ---- */

fire_status_t fire_report_draw_nets(fire_report_t *r)
{
    for (int i = 0; i < r->nrun; i++) {
        const fire_json_t *layers = fire_json_get(r->run[i]->net, "layers");
        fire_str_t         svg    = {0};
        fire_status_t      st;

        if (layers == NULL || r->extra[i].graph != NULL) continue;
        st = fire_draw_layers(layers, false, &svg);
        if (st >= 0) st = fire_str_take(&svg, &r->extra[i].graph);
        fire_str_fini(&svg);
        FIRE_TRY(st);
    }
    return FIRE_OK;
}

/* ---- what the newest snapshot shows ---- */

/* The .caffemodel of a .solverstate: next to it or, if the run directory was moved, in
 * the run's present directory. */
static fire_status_t find_model(const fire_run_t *run, const char *state, char **path_p)
{
    const char   *slash = strrchr(state, '/'), *own = strrchr(run->path, '/');
    const char   *end  = strstr(slash != NULL ? slash : state, ".solverstate");
    int           stem = end != NULL ? (int)(end - state) : (int)strlen(state);
    const char   *rest = end != NULL ? end + strlen(".solverstate") : "";
    char         *path;
    fire_status_t st;

    FIRE_TRY(fire_asprintf(&path, "%.*s.caffemodel%s", stem, state, rest));
    if (access(path, R_OK) == 0) {
        *path_p = path;
        return FIRE_OK;
    }
    slash = strrchr(path, '/');
    st = fire_asprintf(path_p, "%.*s%s", own != NULL ? (int)(own - run->path) + 1 : 0,
                       run->path, slash != NULL ? slash + 1 : path);
    fire_free(path);
    return st;
}

static fire_status_t move_text(fire_json_writer_t *w, bool found, char **text_p)
{
    FIRE_TRY(w->status);
    return found ? fire_str_take(&w->out, text_p) : FIRE_OK;
}

static fire_status_t show_filters(const char *model, fire_run_extra_t *x)
{
    fire_json_writer_t w = {0};
    bool               found;
    fire_status_t      st = fire_filters_write(&w, model, &found);

    if (st >= 0) st = move_text(&w, found, &x->filters);
    fire_json_writer_fini(&w);
    return st;
}

/* Paths in nets are relative to the directory in which the training was started. */
static fire_status_t show_confusion(const fire_run_t *run, const char *model,
                                    const char *solver, bool trusted,
                                    fire_run_extra_t *x)
{
    Caffe__SolverParameter *param;
    fire_json_writer_t      w = {0};
    bool                    found;
    fire_status_t           st;

    FIRE_TRY(fire_solver_param_load(solver, &param));
    if (!trusted) FIRE_TRY_GOTO(st, fire_run_dir_check_code(solver, param), out);
    if (chdir(fire_json_string_or(run->head, "directory", ".")) != 0)
        FIRE_LOG(WARNING, "%s: its directory is not here; data may not be found",
                 run->name);
    st = fire_confusion_write(&w, param, model, CONFUSION_SECONDS, &found);
    if (st >= 0) st = move_text(&w, found, &x->confusion);
out:
    fire_json_writer_fini(&w);
    fire_message_free(param);
    return st;
}

/* A report is useful without these, so a failure is only logged. */
static void warn_missing(const fire_run_t *run, const char *what, fire_status_t st)
{
    if (st < 0) FIRE_LOG(WARNING, "%s: no %s: %s", run->name, what, fire_last_error());
}

/* Filters and confusion matrix of the newest snapshot. */
static fire_status_t show_snapshot(const fire_run_t *run, bool trusted,
                                   fire_run_extra_t *x)
{
    char         *model = NULL, *real = NULL, *solver = NULL;
    int           here = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    fire_status_t st;

    FIRE_TRY_GOTO(st, find_model(run, run->snapshot[run->nsnapshot - 1].file, &model),
                  out);
    real = realpath(model, NULL);
    if (real == NULL) {
        FIRE_LOG(WARNING, "%s: the model of its newest snapshot is missing", run->name);
        goto out;
    }
    warn_missing(run, "filters", show_filters(real, x));
    FIRE_TRY_GOTO(st,
                  fire_asprintf(&solver, "%.*ssolver.prototxt",
                                (int)(strlen(run->path) - strlen("run.jsonl")),
                                run->path),
                  out);
    if (fire_path_has_suffix(run->path, "run.jsonl") && access(solver, R_OK) == 0)
        warn_missing(run, "confusion matrix",
                     show_confusion(run, real, solver, trusted, x));
    if (here >= 0 && fchdir(here) != 0)
        st = FIRE_FAIL(FIRE_ERR_IO, "cannot go back to the current directory");
out:
    if (here >= 0) close(here);
    free(real);
    fire_free(model);
    fire_free(solver);
    return st;
}

fire_status_t fire_report_read_snapshots(fire_report_t *r)
{
    for (int i = 0; i < r->nrun; i++)
        if (r->run[i]->nsnapshot > 0)
            FIRE_TRY(show_snapshot(r->run[i], r->trusted, &r->extra[i]));
    return FIRE_OK;
}

/* ---- all of them ---- */

static bool is_called(const fire_report_t *r, const char *name)
{
    for (int i = 0; i < r->nrun; i++)
        if (strcmp(r->run[i]->name, name) == 0) return true;
    return false;
}

/* Append a number to a name that another run has: names identify runs in legends and
 * name their CSV files. */
static fire_status_t make_name_unique(const fire_report_t *r, fire_run_t *run)
{
    char         *first = run->name;
    fire_status_t st    = FIRE_OK;

    for (int k = 2; st >= 0 && is_called(r, run->name); k++) {
        if (run->name != first) fire_free(run->name);
        run->name = NULL;
        st        = fire_asprintf(&run->name, "%s-%d", first, k);
    }
    if (run->name != first) fire_free(first);
    return st;
}

static fire_status_t add_run(fire_report_t *r, const char *path)
{
    fire_run_t   *run;
    fire_status_t st;

    FIRE_TRY(fire_grow(&r->run, &r->run_cap, r->nrun + 1, sizeof(*r->run)));
    FIRE_TRY(fire_grow(&r->extra, &r->extra_cap, r->nrun + 1, sizeof(*r->extra)));
    FIRE_TRY(fire_run_open(path, &run));
    st = make_name_unique(r, run);
    if (st < 0)
        fire_run_close(run);
    else
        r->run[r->nrun++] = run;
    return st;
}

/* A directory of runs, as a sweep leaves it: each of them. */
static fire_status_t add_runs_below(fire_report_t *r, const char *dir, bool *any_p)
{
    char         *own;
    glob_t        found;
    fire_status_t st;
    bool          is_run;

    *any_p = false;
    FIRE_TRY(fire_asprintf(&own, "%s/run.jsonl", dir));
    is_run = access(own, F_OK) == 0;
    fire_free(own);
    if (is_run) return FIRE_OK;
    st     = fire_path_glob(dir, "/*/run.jsonl", &found);
    *any_p = found.gl_pathc > 0;
    for (size_t i = 0; i < found.gl_pathc && st >= 0; i++)
        st = add_run(r, found.gl_pathv[i]);
    globfree(&found);
    return st;
}

/* Is it a file other than a log? The shell's * in a sweep's directory also matches its
 * table. */
static bool is_no_log(const char *path)
{
    struct stat info;

    return stat(path, &info) == 0 && S_ISREG(info.st_mode) &&
           !fire_path_has_suffix(path, ".jsonl");
}

static fire_status_t add_path(fire_report_t *r, const char *path, bool alone)
{
    bool any;

    if (!alone && is_no_log(path)) {
        FIRE_LOG(INFO, "%s is not a run: skipped", path);
        return FIRE_OK;
    }
    FIRE_TRY(add_runs_below(r, path, &any));
    return any ? FIRE_OK : add_run(r, path);
}

fire_status_t fire_report_open(int n, const char *const *path, fire_report_t *report_p)
{
    fire_report_t r = {0};
    fire_status_t st;

    for (int i = 0; i < n; i++)
        FIRE_TRY_GOTO(st, add_path(&r, path[i], n == 1), err_runs);
    if (r.nrun == 0) {
        st = FIRE_FAIL(FIRE_ERR_INVALID, "none of these is a run");
        goto err_runs;
    }
    FIRE_TRY_GOTO(st, fire_report_draw_nets(&r), err_runs);
    *report_p = r;
    return FIRE_OK;

err_runs:
    fire_report_close(&r);
    return st;
}

void fire_report_close(fire_report_t *r)
{
    for (int i = 0; i < r->nrun; i++) {
        fire_run_close(r->run[i]);
        fire_free(r->extra[i].filters);
        fire_free(r->extra[i].confusion);
        fire_free(r->extra[i].graph);
    }
    fire_free(r->run);
    fire_free(r->extra);
    *r = (fire_report_t){0};
}
