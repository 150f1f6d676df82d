/* launch.c - one run of the program after the other: build the command line, start it,
 * wait, decide by its exit status and its snapshots whether and how to start it again. */
#include "launch/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/log.h"
#include "train/snapshot/snapshot.h"

/* One run of the program among several. */
typedef struct attempt {
    const fire_launch_t *launch;
    int                  workers;
    int                  lanes;    /* 0: as the solver says */
    const char          *snapshot; /* to resume from; NULL: as the command line says */
} attempt_t;

/* ---- the command line ---- */

typedef struct words {
    char  **word; /* [n], then NULL */
    int64_t n, cap;
} words_t;

static fire_status_t add(words_t *w, const char *format, ...) FIRE_PRINTF(2, 3);

static fire_status_t add(words_t *w, const char *format, ...)
{
    char    text[PATH_MAX + 64];
    va_list ap;

    va_start(ap, format);
    vsnprintf(text, sizeof(text), format, ap);
    va_end(ap);
    FIRE_TRY(fire_grow(&w->word, &w->cap, w->n + 2, sizeof(*w->word)));
    return fire_strdup(text, &w->word[w->n++]);
}

static void free_words(words_t *w)
{
    for (int64_t i = 0; i < w->n; i++)
        fire_free(w->word[i]);
    fire_free(w->word);
}

static fire_status_t add_launcher(words_t *w, const attempt_t *a)
{
    char         *copy, *rest;
    fire_status_t st = FIRE_OK;

    FIRE_TRY(fire_strdup(a->launch->launcher, &copy));
    for (char *word = strtok_r(copy, " \t", &rest); word != NULL && st >= 0;
         word       = strtok_r(NULL, " \t", &rest))
        st = add(w, "%s", word);
    fire_free(copy);
    FIRE_TRY(st);
    if (w->n == 0) return FIRE_OK;
    FIRE_TRY(add(w, "-n"));
    return add(w, "%d", a->workers);
}

static fire_status_t add_program(words_t *w)
{
    char    program[PATH_MAX];
    ssize_t len = readlink("/proc/self/exe", program, sizeof(program) - 1);

    if (len < 0)
        return FIRE_FAIL(FIRE_ERR_IO, "cannot tell where this program is: %s",
                         strerror(errno));
    program[len] = '\0';
    return add(w, "%s", program);
}

/* The command line as typed, then flags that replace some of it: where a flag is given
 * twice, the last one counts. */
static fire_status_t write_command(const attempt_t *a, words_t *w)
{
    const fire_launch_t *l = a->launch;

    FIRE_TRY(add_launcher(w, a));
    FIRE_TRY(add_program(w));
    for (int i = 1; i < l->argc; i++)
        FIRE_TRY(add(w, "%s", l->argv[i]));
    FIRE_TRY(add(w, "--launcher="));
    FIRE_TRY(add(w, "--restarts=0"));
    FIRE_TRY(add(w, "--workers=%d", l->launcher[0] != '\0' ? 1 : a->workers));
    if (a->lanes > 0) FIRE_TRY(add(w, "--lanes=%d", a->lanes));
    if (a->snapshot == NULL) return FIRE_OK;
    FIRE_TRY(add(w, "--noweights"));
    return add(w, "--snapshot=%s", a->snapshot);
}

/* ---- one process ---- */

enum { NOT_STARTED = 127 }; /* as a shell says it of a command that is not there */

/* Written before signals are caught and by one thread, read by the signal handler. */
static volatile sig_atomic_t child_pid, has_launcher, was_asked_to_stop;

void fire_launch_signal(int number)
{
    if (number == SIGINT || number == SIGTERM) was_asked_to_stop = 1;
    if (number == SIGINT && has_launcher) number = SIGUSR2;
    if (number == SIGHUP && has_launcher) number = SIGUSR1;
    if (child_pid > 0) kill((pid_t)child_pid, number);
}

/* Settings of Open MPI, which other launchers do not read; what the user has set stays.
 * It would notice a host that is cut off only after minutes, it would not use the second
 * direction of a TCP connection while the first is busy, and it would refuse to start
 * more workers than cores, or as root. */
static void advise_launcher(void)
{
    static const char *const advice[][2] = {
        {"OMPI_MCA_oob_tcp_keepalive_time", "3"},
        {"OMPI_MCA_oob_tcp_keepalive_intvl", "1"},
        {"OMPI_MCA_oob_tcp_keepalive_probes", "3"},
        {"OMPI_MCA_btl_tcp_flags", "send"},
        {"OMPI_MCA_rmaps_base_oversubscribe", "1"},
    };

    for (size_t i = 0; i < sizeof(advice) / sizeof(advice[0]); i++)
        setenv(advice[i][0], advice[i][1], 0);
    if (geteuid() != 0) return;
    setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 0);
    setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 0);
}

/* In the child. If the program cannot be started, errno goes through the pipe, whose end
 * closes by itself if it can. */
static void become(char **argv, int report)
{
    int     error;
    ssize_t n;

    prctl(PR_SET_PDEATHSIG, SIGTERM); /* end with the parent, which watches it */
    setpgid(0, 0);
    for (int number = 1; number < NSIG; number++)
        signal(number, SIG_DFL);
    execvp(argv[0], argv);
    error = errno;
    n     = write(report, &error, sizeof(error));
    (void)n;
    _exit(NOT_STARTED);
}

/* Start it; fails if there is no such program, among others. */
static fire_status_t start(char **argv, pid_t *pid_p)
{
    int     report[2], error;
    ssize_t n;

    if (pipe2(report, O_CLOEXEC) != 0)
        return FIRE_FAIL(FIRE_ERR_NOMEM, "cannot make a pipe: %s", strerror(errno));
    *pid_p = fork();
    if (*pid_p == 0) become(argv, report[1]);
    error = errno;
    close(report[1]);
    if (*pid_p < 0) {
        close(report[0]);
        return FIRE_FAIL(FIRE_ERR_NOMEM, "cannot start a process: %s", strerror(error));
    }
    child_pid = (sig_atomic_t)*pid_p;
    while ((n = read(report[0], &error, sizeof(error))) < 0 && errno == EINTR)
        ;
    close(report[0]);
    if (n != sizeof(error)) return FIRE_OK;
    child_pid = 0;
    waitpid(*pid_p, NULL, 0);
    return FIRE_FAIL(FIRE_ERR_INVALID, "cannot start %s: %s", argv[0], strerror(error));
}

/* *code_p is its exit status as a shell gives it: 128 + the number of a signal. */
static fire_status_t run_child(const attempt_t *a, int *code_p)
{
    words_t       w  = {0};
    fire_status_t st = write_command(a, &w);
    int           how;
    pid_t         pid;

    if (st >= 0) st = start(w.word, &pid);
    if (st >= 0) {
        while (waitpid(pid, &how, 0) < 0 && errno == EINTR)
            ;
        child_pid = 0;
        *code_p   = WIFEXITED(how) ? WEXITSTATUS(how) : 128 + WTERMSIG(how);
    }
    free_words(&w);
    return st;
}

/* ---- one after the other ---- */

/* EXIT_FAILURE and NOT_STARTED are mistakes of the user's: another run would repeat
 * them. */
static bool is_worth_another(int code)
{
    return code != 0 && code != EXIT_FAILURE && code != NOT_STARTED &&
           !was_asked_to_stop;
}

/* After two failures in a row without a new snapshot: half as many workers. */
static void take_fewer(attempt_t *a, int failures_here)
{
    int64_t least = a->launch->least_workers;

    if (failures_here < 2 || least == 0 || a->workers / 2 < least ||
        a->workers % 2 != 0)
        return;
    a->workers /= 2;
    FIRE_LOG(WARNING, "Going on with %d workers", a->workers);
}

static fire_status_t prepare_next(double since, attempt_t *a, char **newest,
                                  int *failures_here)
{
    const char *prefix = a->launch->prefix;
    char       *found;
    bool        moved;

    fire_snapshot_clean(prefix);
    FIRE_TRY(fire_snapshot_find(prefix, since, &found));
    moved          = found != NULL && (*newest == NULL || strcmp(found, *newest) != 0);
    *failures_here = moved ? 1 : *failures_here + 1;
    if (found != NULL) {
        fire_free(*newest);
        *newest = found;
    }
    a->snapshot = *newest;
    take_fewer(a, *failures_here);
    return FIRE_OK;
}

static fire_status_t run_until_done(double since, attempt_t *a, char **newest,
                                    bool *reported_p)
{
    int64_t restarts = a->launch->restarts;
    int     code = 0, failures_here = 0;

    for (int64_t k = 0;; k++) {
        FIRE_TRY(run_child(a, &code));
        if (!is_worth_another(code) || k == restarts) break;
        FIRE_TRY(prepare_next(since, a, newest, &failures_here));
        FIRE_LOG(WARNING,
                 "Training broke off (exit status %d); restart %lld of %lld, %s", code,
                 (long long)k + 1, (long long)restarts,
                 a->snapshot != NULL ? a->snapshot : "from the beginning");
    }
    if (code == 0) return FIRE_OK;
    if (is_worth_another(code))
        return FIRE_FAIL(FIRE_ERR_PEER, "training broke off (exit status %d)%s", code,
                         restarts > 0 ? " once more than --restarts" : "");
    *reported_p = true;
    return FIRE_FAIL(FIRE_ERR_INVALID, "exit status %d", code);
}

fire_status_t fire_launch_run(const fire_launch_t *launch, bool *reported_p)
{
    attempt_t     a      = {.launch = launch, .workers = launch->workers};
    char         *newest = NULL;
    double        since;
    fire_status_t st;

    *reported_p = false;
    if (launch->restarts < 0 || launch->least_workers < 0)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "--restarts and --least_workers must not be negative");
    if (launch->least_workers > 0)
        a.lanes = launch->lanes > 0 ? launch->lanes : a.workers;
    FIRE_TRY(fire_snapshot_now(launch->prefix, &since));
    has_launcher = launch->launcher[0] != '\0';
    advise_launcher();
    st = run_until_done(since, &a, &newest, reported_p);
    fire_free(newest);
    return st;
}
