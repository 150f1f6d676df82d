/* attempt.c - starts the program in a process, watches it, ends it. */
#include "launch/attempt.h"
#include "launch/hosts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "train/snapshot/snapshot.h"

/* GRACE: seconds that a process has between being asked and being forced to end. SPARE:
 * that starting processes may take beyond the deadline. BLIND: after which training is
 * taken to have begun where nothing tells it. */
static const double GRACE = 2, SPARE = 1, BLIND = 1;
enum { POLL_MICROSECONDS = 10000 };

typedef struct child {
    const fire_attempt_t *attempt;
    pid_t                 pid;
    double                since;  /* start, by the clock of the snapshots' files */
    double                start;  /* start, by fire_clock_now() */
    double                asked;  /* when it was asked to stop; 0: was not */
    double                forced; /* when it was sent SIGTERM; 0: was not */
    double idle; /* since when it is stopped or should have ended; 0: no */
    bool   began, hung, moved;
} child_t;

/* In the child. If the program cannot be started, errno goes through the pipe, whose end
 * closes by itself if it can. */
static void become(char **argv, int report)
{
    sigset_t none;
    int      error;
    ssize_t  n;

    prctl(PR_SET_PDEATHSIG, SIGTERM); /* end with the parent, which watches it */
    setpgid(0, 0);
    for (int number = 1; number < NSIG; number++)
        signal(number, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    execvp(argv[0], argv);
    error = errno;
    n     = write(report, &error, sizeof(error));
    (void)n;
    _exit(FIRE_NOT_STARTED);
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
    while ((n = read(report[0], &error, sizeof(error))) < 0 && errno == EINTR)
        continue;
    close(report[0]);
    if (n != sizeof(error)) return FIRE_OK;
    waitpid(*pid_p, NULL, 0);
    return FIRE_FAIL(FIRE_ERR_INVALID, "cannot start %s: %s", argv[0], strerror(error));
}

/* Rank 0 has the lock of the snapshots from when all workers have found each other and
 * listen to signals until training has ended (train/snapshot/lock.h). *gone_p: there is
 * no such file. */
static bool is_training(const child_t *c, bool *gone_p)
{
    char       *path;
    struct stat info;
    bool        training;

    *gone_p = false;
    if (!c->attempt->watched) return fire_clock_now() - c->start > BLIND;
    if (fire_asprintf(&path, "%s.lock", c->attempt->launch->prefix) < 0) return false;
    *gone_p = stat(path, &info) != 0 && errno == ENOENT;
    training =
        !*gone_p && info.st_size > 0 &&
        (double)info.st_mtim.tv_sec + 1e-9 * (double)info.st_mtim.tv_nsec >= c->since;
    fire_free(path);
    return training;
}

/* SIGTERM once, then SIGKILL for everything that descends from it. */
static void force(child_t *c)
{
    double now = fire_clock_now();

    if (c->forced == 0) {
        c->forced = now;
        kill(c->pid, SIGTERM);
        kill(c->pid, SIGCONT);
    } else if (now - c->forced > GRACE) {
        kill(c->pid, SIGKILL);
    }
}

/* Launchers forward SIGUSR1 and SIGUSR2; before training begins these would end it. */
static void pass_wishes(child_t *c)
{
    fire_wishes_t *w        = &fire_launch_wishes;
    double         deadline = c->attempt->launch->deadline;

    if (c->began && w->snapshots > 0) {
        w->snapshots = 0;
        kill(c->pid, SIGUSR1);
    }
    if (w->stops == 0 && !c->moved) return;
    if (c->asked == 0) {
        c->asked = fire_clock_now();
        if (c->began) kill(c->pid, SIGUSR2);
    }
    if (!c->began || w->stops > 1 ||
        (deadline > 0 && fire_clock_now() - c->asked > 2 * deadline))
        force(c);
}

/* It writes a snapshot when it is asked to stop, from which the next attempt goes on. */
static void look_for_hosts(child_t *c)
{
    const fire_attempt_t *a = c->attempt;

    if (a->hosts == NULL || !c->began || c->moved || c->idle > 0 ||
        !fire_hosts_have_changed(a->hosts, a->most, a->workers))
        return;
    FIRE_LOG(INFO, "Other hosts are there: training stops to go on with them");
    c->moved = true;
}

static void give_up(child_t *c, const char *what, double waited)
{
    if (!c->hung) FIRE_LOG(WARNING, "%s %.1f s: they are ended by force", what, waited);
    c->hung = true;
    force(c);
}

/* Ranks watch each other while they train; before and after that nobody but this process
 * does, and nobody else sees that a launcher is stopped. */
static void watch(child_t *c)
{
    double patience = c->attempt->patience, now = fire_clock_now();
    bool   gone;

    if (is_training(c, &gone)) {
        c->began = true;
    } else if (c->began && gone && c->idle == 0) {
        c->idle = now;
    }
    if (patience <= 0) return;
    if (!c->began && now - c->start > patience + SPARE)
        give_up(c,
                "the workers have not found each other (--deadline; worker 0 and this "
                "process must share the folder of the snapshots) for",
                now - c->start);
    if (c->idle > 0 && now - c->idle > patience + SPARE)
        give_up(c,
                "the workers have ended or are stopped, their launcher goes on since",
                now - c->idle);
}

static int wait_for(child_t *c)
{
    int   how  = 0;
    pid_t gone = 0;

    while (gone >= 0 || errno == EINTR) {
        gone = waitpid(c->pid, &how, WNOHANG | WUNTRACED | WCONTINUED);
        if (gone > 0 && WIFSTOPPED(how)) c->idle = fire_clock_now();
        if (gone > 0 && WIFCONTINUED(how)) c->idle = 0;
        if (gone > 0 && (WIFEXITED(how) || WIFSIGNALED(how))) break;
        watch(c);
        look_for_hosts(c);
        pass_wishes(c);
        usleep(POLL_MICROSECONDS);
    }
    if (c->hung || gone < 0) return FIRE_HUNG;
    return WIFEXITED(how) ? WEXITSTATUS(how) : 128 + WTERMSIG(how);
}

fire_status_t fire_attempt_run(const fire_attempt_t *a, fire_ended_t *ended_p)
{
    child_t         c = {.attempt = a, .start = fire_clock_now()};
    fire_words_t    w = {0};
    struct timespec now;
    fire_status_t   st = fire_attempt_command(a, &w);

    clock_gettime(CLOCK_REALTIME, &now);
    c.since = (double)now.tv_sec;
    if (a->watched && fire_snapshot_now(a->launch->prefix, &c.since) < 0)
        FIRE_LOG(WARNING, "%s",
                 fire_last_error()); /* the disk may be full for a while */
    if (st >= 0) prctl(PR_SET_CHILD_SUBREAPER, 1); /* orphans become its children */
    if (st >= 0) st = start(w.word, &c.pid);
    if (st >= 0) {
        ended_p->code  = wait_for(&c);
        ended_p->began = c.began;
        ended_p->slow  = c.hung && !c.began;
        ended_p->moved = c.moved;
        fire_leftovers_kill();
        fire_leftovers_remove((double)now.tv_sec, c.pid);
    }
    prctl(PR_SET_CHILD_SUBREAPER, 0);
    fire_words_fini(&w);
    return st;
}
