/* launch.c - one run of the program after the other: decides by its exit status and its
 * snapshots whether and how to start it again. */
#include "launch/launch.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "launch/attempt.h"
#include "launch/hosts.h"
#include "train/snapshot/lock.h"
#include "train/snapshot/memory.h"
#include "train/snapshot/snapshot.h"

/* ---- signals ---- */

fire_wishes_t fire_launch_wishes;

/* Written before signals are caught. */
static volatile sig_atomic_t on_interrupt = FIRE_STOP, on_hangup = FIRE_SNAPSHOT;

void fire_launch_signal(int number)
{
    int wish = number == SIGINT    ? (int)on_interrupt
               : number == SIGHUP  ? (int)on_hangup
               : number == SIGUSR1 ? (int)FIRE_SNAPSHOT
                                   : (int)FIRE_STOP;

    if (wish == FIRE_STOP) fire_launch_wishes.stops++;
    if (wish == FIRE_SNAPSHOT) fire_launch_wishes.snapshots = 1;
}

static bool must_stop(void)
{
    return fire_launch_wishes.stops > 0;
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

/* ---- one after the other ---- */

/* What of a launch goes on from one attempt to the next. */
typedef struct history {
    double  since;    /* snapshots of this time and later are this job's */
    char   *newest;   /* NULL: none yet */
    int64_t memory;   /* newest iteration in this machine's memory; -1: none */
    int     failures; /* in a row, without a new snapshot in between */
    bool    began;    /* some attempt began to train */
    int     here;     /* failures in a row with the same number of workers */
    int64_t restarts;
} history_t;

/* A mistake of the user's would be repeated by another run. Our program says so itself;
 * of what a launcher ends with, only the first attempt counts: it may have been typed
 * wrongly. Later its status 1 means that it was stopped, or could not reach a host. */
static bool is_mistake(const history_t *h, int code)
{
    return code == FIRE_MISTAKE || code == FIRE_NOT_STARTED ||
           (code == EXIT_FAILURE && !h->began);
}

/* After two failures in a row without a new snapshot: one worker less after each. With
 * `elastic`, all of them again when a new snapshot is there. */
static void choose_most(fire_attempt_t *a, history_t *h, bool moved)
{
    int64_t least = a->launch->least_workers;

    if (moved && a->launch->elastic) a->most = a->launch->workers;
    if (moved) h->here = 0;
    if (++h->here < 2 || least == 0 || a->workers - 1 < least) return;
    a->most = a->workers - 1;
}

/* On the hosts that are there. */
static fire_status_t choose_workers(fire_attempt_t *a)
{
    int before = a->workers;

    a->workers = (int)a->most;
    if (a->hosts != NULL) FIRE_TRY(fire_hosts_settle(a->hosts, a->most, &a->workers));
    if (a->workers != before) FIRE_LOG(WARNING, "Going on with %d workers", a->workers);
    return FIRE_OK;
}

/* Seconds to wait before the next attempt: none after the first failure in a row, then
 * 1, 2, 4 ... 60 times `pause`. A host that boots needs a minute. */
static double wait_before(const history_t *h, double pause)
{
    double most = 60 * pause, wait = pause;

    if (h->failures < 2) return 0;
    for (int i = 2; i < h->failures && wait < most; i++)
        wait *= 2;
    return wait < most ? wait : most;
}

static void wait_or_stop(double seconds)
{
    const double until = fire_clock_now() + seconds;

    while (fire_clock_now() < until && !must_stop())
        usleep(10000);
}

static fire_status_t prepare_next(fire_attempt_t *a, history_t *h)
{
    const char *prefix = a->launch->prefix;
    char       *found;
    int64_t     memory = fire_memory_newest(prefix);
    bool        moved;

    fire_snapshot_clean(prefix);
    FIRE_TRY(fire_snapshot_find(prefix, h->since, &found));
    moved = found != NULL && (h->newest == NULL || strcmp(found, h->newest) != 0);
    moved |= memory > h->memory;
    h->memory   = memory;
    h->failures = moved ? 1 : h->failures + 1;
    if (moved) h->restarts = 0;
    if (found != NULL) {
        fire_free(h->newest);
        h->newest = found;
    }
    a->snapshot = h->newest;
    choose_most(a, h, moved);
    if (moved && a->hosts != NULL) fire_hosts_praise(a->hosts);
    return FIRE_OK;
}

/* Other hosts are there and a snapshot was written for them: nothing has failed. */
static fire_status_t go_on_elsewhere(fire_attempt_t *a, history_t *h)
{
    FIRE_TRY(prepare_next(a, h));
    h->failures = h->here = 0;
    a->most               = a->launch->workers;
    FIRE_TRY(choose_workers(a));
    FIRE_LOG(INFO, "Going on from %s",
             a->snapshot != NULL ? a->snapshot : "the beginning");
    return FIRE_OK;
}

static fire_status_t fail_stopped(int code)
{
    return FIRE_FAIL(FIRE_ERR_PEER,
                     "training was stopped before its end (exit status %d)", code);
}

static fire_status_t run_until_done(fire_attempt_t *a, history_t *h, bool *reported_p)
{
    const fire_launch_t *l = a->launch;

    for (;;) {
        fire_ended_t ended = {0};
        double       wait;

        FIRE_TRY(fire_attempt_run(a, &ended));
        a->number++;
        h->began |= ended.began;
        /* a machine may be slow to start them: the next time they have longer */
        a->patience = ended.slow ? 2 * a->patience : l->deadline;
        if (ended.moved && ended.code == 0 && !must_stop()) {
            FIRE_TRY(go_on_elsewhere(a, h));
            continue;
        }
        if (ended.code == 0) return FIRE_OK;
        if (is_mistake(h, ended.code)) {
            *reported_p = true;
            return FIRE_FAIL(FIRE_ERR_INVALID, "exit status %d", ended.code);
        }
        if (must_stop()) return fail_stopped(ended.code);
        if (l->restarts > 0) FIRE_TRY(prepare_next(a, h));
        if (h->restarts == l->restarts)
            return FIRE_FAIL(FIRE_ERR_PEER, "training broke off (exit status %d)%s",
                             ended.code,
                             l->restarts > 0 ? " once more than --restarts" : "");
        wait = wait_before(h, l->pause);
        h->restarts++;
        FIRE_LOG(WARNING,
                 "Training broke off (exit status %d); restart %lld of %lld%s, %s",
                 ended.code, (long long)h->restarts, (long long)l->restarts,
                 wait > 0 ? " in a moment" : "",
                 a->snapshot != NULL ? a->snapshot : "from the beginning");
        wait_or_stop(wait);
        if (a->hosts != NULL) fire_hosts_try(a->hosts);
        FIRE_TRY(choose_workers(a));
        if (must_stop()) return fail_stopped(ended.code);
    }
}

/* Can the lock of the snapshots tell when training begins? If another training holds it,
 * the attempt will say so. */
static bool can_watch(const char *prefix)
{
    fire_job_lock_t lock = {0};
    bool            held = fire_job_lock(prefix, &lock) >= 0 && lock.path != NULL;

    fire_job_unlock(&lock);
    return held;
}

fire_status_t fire_launch_run(const fire_launch_t *launch, bool *reported_p)
{
    fire_attempt_t a = {.launch   = launch,
                        .workers  = launch->workers,
                        .most     = launch->workers,
                        .patience = launch->deadline};
    history_t      h = {.memory = -1};
    fire_status_t  st;

    *reported_p = false;
    if (launch->restarts < 0 || launch->least_workers < 0)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "--restarts and --least_workers must not be negative");
    if (launch->least_workers > 0)
        a.lanes = launch->lanes > 0 ? launch->lanes : a.workers;
    on_interrupt = launch->on_interrupt;
    on_hangup    = launch->on_hangup;
    FIRE_TRY(fire_snapshot_now(launch->prefix, &h.since));
    a.watched = can_watch(launch->prefix);
    advise_launcher();
    FIRE_TRY(fire_hosts_open(launch, &a.hosts));
    st = choose_workers(&a);
    if (st >= 0 && must_stop()) st = fail_stopped(0);
    if (st >= 0) st = run_until_done(&a, &h, reported_p);
    fire_hosts_close(a.hosts);
    fire_free(h.newest);
    return st;
}
