/* summary.c - sums of times per worker, and the table at the end of a training. */
#include "view/summary.h"

#include <stdio.h>
#include "base/alloc.h"
#include "base/log.h"

enum { MOST_ROWS = 16 };

void summary_add(summary_t *s, const fire_measured_t *m)
{
    int64_t cap = s->nworker;

    if (m->nworker > s->nworker &&
        fire_grow(&s->times, &cap, m->nworker, sizeof(*s->times)) < 0)
        return; /* out of memory: no table, but the training goes on */
    s->nworker = m->nworker;
    for (int i = 0; i < m->nworker; i++)
        fire_times_add(&s->times[i], &m->times[i]);
    s->iterations += m->iterations;
}

static void log_row(const char *name, const char *host, const fire_times_t *t,
                    double iterations)
{
    double ms = 1e3 / iterations;

    FIRE_LOG(INFO, "  %6s %8.2f %8.2f %8.2f %8.2f %8.2f %8.2f %8.2f %9.3f  %s", name,
             t->seconds * ms, t->phase[FIRE_PHASE_DATA] * ms,
             t->phase[FIRE_PHASE_FORWARD] * ms, t->phase[FIRE_PHASE_BACKWARD] * ms,
             t->phase[FIRE_PHASE_EXPOSED] * ms, t->phase[FIRE_PHASE_UPDATE] * ms,
             t->hidden * ms, (double)t->bytes / iterations / 1e6, host);
}

void summary_log(const summary_t *s, const fire_comm_t *comm)
{
    fire_times_t sum = {0};
    char         name[32];

    if (s->iterations == 0 || s->nworker == 0) return;
    FIRE_LOG(INFO,
             "Milliseconds of an iteration, mean of %lld:", (long long)s->iterations);
    FIRE_LOG(INFO, "  %6s %8s %8s %8s %8s %8s %8s %8s %9s  %s", "worker", "all", "data",
             "forward", "backward", "exposed", "update", "hidden", "MB sent", "host");
    for (int i = 0; i < s->nworker; i++) {
        fire_times_add(&sum, &s->times[i]);
        snprintf(name, sizeof(name), "%d", i);
        if (i < MOST_ROWS)
            log_row(name, comm != NULL ? fire_comm_host(comm, i) : "", &s->times[i],
                    (double)s->iterations);
    }
    log_row("mean", "", &sum, (double)s->iterations * s->nworker);
    FIRE_LOG(INFO, "Data: workers waited %.1f%% of the time for it",
             100 * sum.phase[FIRE_PHASE_DATA] / sum.seconds);
    if (s->nworker == 1) return;
    FIRE_LOG(
        INFO,
        "Communication: workers waited %.1f%% of the time for it; %.0f%% of it was "
        "hidden behind computation",
        100 * sum.phase[FIRE_PHASE_EXPOSED] / sum.seconds,
        100 * sum.hidden / (sum.hidden + sum.phase[FIRE_PHASE_EXPOSED] + 1e-12));
}

void summary_fini(summary_t *s)
{
    fire_free(s->times);
    *s = (summary_t){0};
}
