/* repeat.c - --repeat: starts the program again with the settings of a run directory.
 *
 * A run directory is data, which may come from anywhere: nothing in it names a program
 * to start, code to load or a variable to set. Of its command line only the flags of
 * `kept` count, of its variables those that limit threads; its solver may name plug-ins
 * and Python layers only if the user says --trust. */
#include "flags/run.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/alloc.h"
#include "base/log.h"
#include "comm/transport/cluster.h"
#include "flags/launch.h"
#include "model/load.h"
#include "report/run.h"
#include "runlog/environment.h"
#include "train/run_solver.h"

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

/* ---- is it a run that can be repeated? ---- */

/* Another number of workers gives the same bits only if the solver sets lanes. */
static fire_status_t check_workers(const fire_json_t            *head,
                                   const Caffe__SolverParameter *param)
{
    int then = (int)fire_json_number_or(head, "workers", 1), now = fire_cluster_size();

    if (!fire_cluster_launched() || now == 0 || now == then) return FIRE_OK;
    if (param->fire != NULL && param->fire->has_lanes) return FIRE_OK;
    return FIRE_FAIL(FIRE_ERR_INVALID,
                     "the run had %d worker%s, %d processes were started: the results "
                     "would differ; start %d, or run without mpirun",
                     then, then == 1 ? "" : "s", now, then);
}

static fire_status_t check_solver(const fire_json_t *head, const char *path)
{
    Caffe__SolverParameter *param;
    fire_status_t           st = FIRE_OK;

    FIRE_TRY(fire_solver_param_load(path, &param));
    if (!run_flags.trust) st = fire_run_dir_check_code(path, param);
    if (st >= 0) st = check_workers(head, param);
    fire_message_free(param);
    return st;
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
    return check_solver(head, solver);
}

/* ---- what is taken from it ---- */

/* Flags of the old command line that count again. What others said is in the solver, is
 * replaced, or is for the user to say. */
static const struct kept_flag {
    const char *name;
    bool        has_value;
} kept[] = {
    {"weights", true}, {"snapshot", true},       {"gpu", true},
    {"kernel", true},  {"exact", false},         {"recompute", false},
    {"level", true},   {"stage", true},          {"timing", false},
    {"quiet", false},  {"ranks_per_node", true},
};

/* The flag whose name these n characters are; - and _ are the same, as everywhere. */
static const struct kept_flag *find_kept(const char *name, size_t n)
{
    for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++) {
        size_t k = 0;

        while (k < n && kept[i].name[k] == (name[k] == '-' ? '_' : name[k]))
            k++;
        if (k == n && kept[i].name[k] == '\0') return &kept[i];
    }
    return NULL;
}

/* A command line that owns its words. */
typedef struct words {
    char  **word; /* [n], then NULL */
    int64_t n, cap;
} words_t;

static fire_status_t add(words_t *w, const char *flag, const char *value)
{
    FIRE_TRY(fire_grow(&w->word, &w->cap, w->n + 2, sizeof(*w->word)));
    FIRE_TRY(fire_asprintf(&w->word[w->n], "%s%s", flag, value));
    w->word[++w->n] = NULL;
    return FIRE_OK;
}

static fire_status_t add_number(words_t *w, const char *flag, double value)
{
    char text[32];

    snprintf(text, sizeof(text), "%.0f", value);
    return add(w, flag, text);
}

static void free_words(words_t *w)
{
    for (int64_t i = 0; i < w->n; i++)
        fire_free(w->word[i]);
    fire_free(w->word);
}

static const char *text_at(const fire_json_t *list, int64_t i)
{
    return i < list->n && list->item[i].kind == FIRE_JSON_STRING ? list->item[i].string
                                                                 : NULL;
}

/* Take one word of the old command line; `next` is the one after it. Each flag becomes
 * one word, "--flag=value", so that no value is read as a flag or a command. */
static fire_status_t add_kept(words_t *w, const char *word, const char *next)
{
    const char             *name = word + (word[1] == '-' ? 2 : 1);
    size_t                  n    = strcspn(name, "=");
    const struct kept_flag *flag = find_kept(name, n);
    char                    left[32];

    if (flag == NULL) return FIRE_OK;
    snprintf(left, sizeof(left), "--%s=", flag->name);
    if (name[n] == '=') return add(w, left, name + n + 1);
    if (!flag->has_value) return add(w, left, "true");
    return next != NULL ? add(w, left, next) : FIRE_OK;
}

static fire_status_t add_all_kept(words_t *w, const fire_json_t *command)
{
    for (int64_t i = 1; i < command->n; i++) {
        const char *word = text_at(command, i);

        if (word != NULL && word[0] == '-')
            FIRE_TRY(add_kept(w, word, text_at(command, i + 1)));
    }
    return FIRE_OK;
}

/* Set the environment variables that limited the number of threads in that run. */
static void restore_threads(const fire_json_t *head)
{
    const fire_json_t *threads = fire_json_get(head, "threads");

    if (threads == NULL) return;
    for (int i = 0; fire_environment_threads(i) != NULL; i++) {
        const char *name  = fire_environment_threads(i);
        const char *value = fire_json_string_or(threads, name, "");

        if (value[0] != '\0' && value[strspn(value, "0123456789,")] == '\0')
            setenv(name, value, 1);
    }
}

/* ---- starting ---- */

/* The last one of a flag counts. Numbers of workers and threads are those of that run,
 * as they change the last bits. Processes of mpirun become threads, unless this runs
 * under mpirun or the user gives a launcher. */
static fire_status_t write_words(const fire_json_t *head, const char *solver,
                                 const char *run_dir, words_t *w)
{
    FIRE_TRY(add(w, "firecaffe", ""));
    FIRE_TRY(add(w, "train", ""));
    FIRE_TRY(add_all_kept(w, fire_json_get(head, "command")));
    FIRE_TRY(add(w, "--solver=", solver));
    FIRE_TRY(add(w, "--run_dir=", run_dir));
    FIRE_TRY(add(w, "--launcher=", launch_flags.launcher));
    FIRE_TRY(add_number(w, "--restarts=", (double)launch_flags.restarts));
    FIRE_TRY(add_number(w, "--workers=", fire_json_number_or(head, "workers", 1)));
    return add_number(w, "--threads=", fire_json_number_or(head, "worker_threads", 0));
}

static fire_status_t start_again(const fire_json_t *head, const char *solver,
                                 const char *run_dir)
{
    const char   *where = fire_json_string_or(head, "directory", ".");
    words_t       w     = {0};
    fire_status_t st    = write_words(head, solver, run_dir, &w);

    if (st >= 0) {
        FIRE_LOG(INFO, "Repeating in %s; the new run is kept in %s", where, run_dir);
        restore_threads(head);
        if (chdir(where) != 0)
            st = FIRE_FAIL(FIRE_ERR_IO, "the run was started in \"%s\": %s", where,
                           strerror(errno));
        else if (execv("/proc/self/exe", w.word) != 0)
            st = FIRE_FAIL(FIRE_ERR_IO, "cannot start the program again: %s",
                           strerror(errno));
    }
    free_words(&w);
    return st;
}

fire_status_t run_flags_repeat(void)
{
    fire_run_t   *run    = NULL;
    char         *solver = NULL, *run_dir = NULL;
    bool          named = run_flags.run_dir[0] != '\0';
    fire_status_t st;

    if (run_flags.repeat[0] == '\0') return FIRE_OK;
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
