#include "flags/launch.h"

#include <errno.h>
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
#include "command.h"
#include "view/console.h"
#include "train/snapshot.h"
#include "flags/workers.h"

launch_flags_t launch_flags;

const fire_option_t launch_options[] = {
    FIRE_OPTION(launch_flags_t, launcher, STRING, "", "COMMAND",
                "start --workers processes with it: \"mpirun --host a,b\", \"srun\""),
    FIRE_OPTION(launch_flags_t, restarts, INT, "0", "N",
                "resume from the newest snapshot up to N times if training breaks off"),
    FIRE_OPTION(launch_flags_t, least_workers, INT, "0", "N",
                "where restarting does not help, go on with half as many workers, but "
                "no fewer than N (0: never fewer)"),
    {0},
};

/* One run of the program among several. */
typedef struct attempt {
    int         workers, lanes; /* lanes 0: leave them alone */
    const char *snapshot;       /* NULL: as the user said */
} attempt_t;

bool launch_is_wanted(void)
{
    return (launch_flags.launcher[0] != '\0' || launch_flags.restarts > 0) &&
           !fire_cluster_launched();
}

/* ---- the command line ---- */

typedef struct words {
    char  **word;
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

static fire_status_t add_launcher(words_t *w, int workers)
{
    char         *copy, *rest;
    fire_status_t st = FIRE_OK;

    FIRE_TRY(fire_strdup(launch_flags.launcher, &copy));
    for (char *word = strtok_r(copy, " \t", &rest); word != NULL && st >= 0;
         word       = strtok_r(NULL, " \t", &rest))
        st = add(w, "%s", word);
    fire_free(copy);
    FIRE_TRY(st);
    if (w->n == 0) return FIRE_OK;
    FIRE_TRY(add(w, "-n"));
    return add(w, "%d", workers);
}

/* The command line as typed, and behind it what replaces parts of it: the last of a
 * flag counts. */
static fire_status_t write_command(const attempt_t *a, words_t *w)
{
    const char *const *typed;
    char               program[PATH_MAX];
    int                n;
    ssize_t            len = readlink("/proc/self/exe", program, sizeof(program) - 1);

    if (len < 0)
        return FIRE_FAIL(FIRE_ERR_IO, "cannot tell where this program is: %s",
                         strerror(errno));
    program[len] = '\0';
    program_arguments(&n, &typed);
    FIRE_TRY(add_launcher(w, a->workers));
    FIRE_TRY(add(w, "%s", program));
    for (int i = 1; i < n; i++)
        FIRE_TRY(add(w, "%s", typed[i]));
    FIRE_TRY(add(w, "--launcher="));
    FIRE_TRY(add(w, "--restarts=0"));
    FIRE_TRY(add(w, "--workers=%d", launch_flags.launcher[0] != '\0' ? 1 : a->workers));
    if (a->lanes > 0) FIRE_TRY(add(w, "--lanes=%d", a->lanes));
    if (a->snapshot == NULL) return FIRE_OK;
    FIRE_TRY(add(w, "--noweights"));
    return add(w, "--snapshot=%s", a->snapshot);
}

/* ---- one process ---- */

/* Passed on to the child, whose process group is its own. mpirun hands on SIGUSR1 and
 * SIGUSR2 only, which mean the same to us. */
static volatile sig_atomic_t child_pid, was_asked_to_stop;

static void pass_on(int number)
{
    bool launched = launch_flags.launcher[0] != '\0';

    if (number == SIGINT || number == SIGTERM) was_asked_to_stop = 1;
    if (number == SIGINT && launched) number = SIGUSR2;
    if (number == SIGHUP && launched) number = SIGUSR1;
    if (child_pid > 0) kill((pid_t)child_pid, number);
}

static void catch_signals(void)
{
    static const int numbers[] = {SIGINT, SIGHUP, SIGTERM, SIGUSR1, SIGUSR2};
    struct sigaction act       = {.sa_handler = pass_on, .sa_flags = SA_RESTART};

    sigfillset(&act.sa_mask);
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        sigaction(numbers[i], &act, NULL);
}

/* Open MPI notices a host that is cut off after minutes, unless told to look, and a
 * second direction on a TCP connection waits for the first. What the user has set
 * stays. Other launchers take no notice. */
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

enum { NOT_STARTED = 127 };

static void become(char **argv)
{
    prctl(PR_SET_PDEATHSIG, SIGTERM); /* nobody would look after it */
    setpgid(0, 0);
    for (int number = 1; number < NSIG; number++)
        signal(number, SIG_DFL);
    execvp(argv[0], argv);
    fprintf(stderr, "firecaffe: error: cannot start %s: %s\n", argv[0],
            strerror(errno));
    _exit(NOT_STARTED);
}

/* *code_p is its exit status as a shell would tell it. */
static fire_status_t run_child(const attempt_t *a, int *code_p)
{
    words_t       w  = {0};
    fire_status_t st = write_command(a, &w);
    int           how;
    pid_t         pid;

    if (st < 0) goto out;
    pid = fork();
    if (pid == 0) become(w.word);
    if (pid < 0) {
        st = FIRE_FAIL(FIRE_ERR_NOMEM, "cannot start a process: %s", strerror(errno));
        goto out;
    }
    child_pid = (sig_atomic_t)pid;
    while (waitpid(pid, &how, 0) < 0 && errno == EINTR)
        ;
    child_pid = 0;
    *code_p   = WIFEXITED(how) ? WEXITSTATUS(how) : 128 + WTERMSIG(how);
out:
    free_words(&w);
    return st;
}

/* ---- again and again ---- */

/* A mistake of the user's would only be repeated. */
static bool is_worth_another(int code)
{
    return code != 0 && code != EXIT_FAILURE && code != NOT_STARTED &&
           !was_asked_to_stop;
}

/* Two failures in a row at the same place: it is not chance. */
static void take_fewer(attempt_t *a, int failures_here)
{
    if (failures_here < 2 || launch_flags.least_workers == 0 ||
        a->workers / 2 < launch_flags.least_workers || a->workers % 2 != 0)
        return;
    a->workers /= 2;
    FIRE_LOG(WARNING, "Going on with %d workers", a->workers);
}

static fire_status_t restart(const char *prefix, double since, attempt_t *a,
                             char **newest, int *failures_here)
{
    char *found;
    bool  moved;

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

static fire_status_t run_until_done(const char *prefix, double since, attempt_t *a,
                                    char **newest)
{
    int code = 0, failures_here = 0;

    for (int64_t k = 0;; k++) {
        FIRE_TRY(run_child(a, &code));
        if (!is_worth_another(code) || k == launch_flags.restarts) break;
        FIRE_TRY(restart(prefix, since, a, newest, &failures_here));
        FIRE_LOG(WARNING,
                 "Training broke off (exit status %d); restart %lld of %lld, %s", code,
                 (long long)k + 1, (long long)launch_flags.restarts,
                 a->snapshot != NULL ? a->snapshot : "from the beginning");
    }
    if (code == 0) return FIRE_OK;
    if (is_worth_another(code))
        return FIRE_FAIL(FIRE_ERR_PEER, "training broke off (exit status %d)%s", code,
                         launch_flags.restarts > 0 ? " once more than --restarts" : "");
    console_mute_error(); /* it has told itself */
    return FIRE_FAIL(FIRE_ERR_INVALID, "exit status %d", code);
}

fire_status_t launch_run(const char *prefix, int lanes)
{
    attempt_t     a      = {.workers = (int)workers_flags.workers};
    char         *newest = NULL;
    double        since;
    fire_status_t st;

    if (launch_flags.restarts < 0 || launch_flags.least_workers < 0)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "--restarts and --least_workers must not be negative");
    if (launch_flags.least_workers > 0) a.lanes = lanes > 0 ? lanes : a.workers;
    FIRE_TRY(fire_snapshot_now(prefix, &since));
    advise_launcher();
    catch_signals();
    st = run_until_done(prefix, since, &a, &newest);
    fire_free(newest);
    return st;
}
