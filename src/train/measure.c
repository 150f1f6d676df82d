/* measure.c - gathers what all workers measured, every tenth iteration, on all of them.
 * It happens after forward and before the first gradients are sent, when nothing else
 * is in flight between workers. Rank 0's caller gets it by options.measured. */
#include <string.h>

#include "base/alloc.h"
#include "train/trainer_state.h"

enum { ITERATIONS_BETWEEN = 10 };

/* ---- when ---- */

/* The run log shows the activities of few iterations: of the second, the 20th, the
 * 200th, the 2000th ... of them, with the one before each, since exchanges of that one
 * may still be under way. n: iterations done; true where such a pair has just ended. */
static bool ends_pair(int64_t n)
{
    int64_t at = 19;

    while (at < n)
        at = 10 * (at + 1) - 1;
    return n == 2 || n == at;
}

static bool is_recorded(const fire_trainer_t *t, int64_t n)
{
    return n < t->options.trace || ends_pair(n) || ends_pair(n + 1);
}

/* ---- from all workers to all workers ---- */

/* A worker's numbers; its activities follow in a message of their own. */
typedef struct report {
    fire_times_t times;
    int64_t      nactivity;
    double       zero; /* Unix time from which activities count */
} report_t;

static fire_status_t gather(fire_trainer_t *t, const void *mine, size_t bytes,
                            void *all)
{
    if (t->options.comm != NULL)
        return fire_comm_allgather(t->options.comm, mine, bytes, all);
    memcpy(all, mine, bytes);
    return FIRE_OK;
}

/* All activities, [n][most], counted from rank 0's zero. */
static fire_status_t gather_activities(fire_trainer_t *t, const report_t *report, int n,
                                       int64_t most, fire_activity_t **all_p)
{
    fire_profile_t  *p = t->profile;
    fire_activity_t *all;
    fire_status_t    st = FIRE_OK;

    FIRE_TRY(fire_grow(&p->activity, &p->activity_cap, most, sizeof(*p->activity)));
    FIRE_TRY(FIRE_NEW(&all, n * most));
    if (most > 0) st = gather(t, p->activity, (size_t)most * sizeof(*all), all);
    for (int k = 0; k < n && st >= 0; k++)
        for (int64_t i = 0; i < report[k].nactivity; i++) {
            all[k * most + i].begin += report[k].zero - report[0].zero;
            all[k * most + i].end += report[k].zero - report[0].zero;
        }
    if (st < 0)
        fire_free(all);
    else
        *all_p = all;
    return st;
}

/* Call back, with arrays of pointers into what was gathered. */
static fire_status_t emit(fire_trainer_t *t, const report_t *report, int n,
                          const fire_activity_t *all, int64_t most, fire_measured_t m)
{
    fire_times_t           *times     = NULL;
    int64_t                *nactivity = NULL;
    const fire_activity_t **activity  = NULL;
    fire_status_t           st;

    FIRE_TRY_GOTO(st, FIRE_NEW(&times, n), out);
    FIRE_TRY_GOTO(st, FIRE_NEW(&nactivity, n), out);
    FIRE_TRY_GOTO(st, FIRE_NEW(&activity, n), out);
    for (int k = 0; k < n; k++) {
        times[k]     = report[k].times;
        nactivity[k] = report[k].nactivity;
        activity[k]  = all + k * most;
    }
    m.nworker   = n;
    m.times     = times;
    m.nactivity = nactivity;
    m.activity  = activity;
    m.zero      = report[0].zero;
    m.layers    = fire_profile_layers(t->profile);
    if (t->options.measured != NULL) t->options.measured(t->options.arg, &m);
out:
    fire_free(times);
    fire_free(nactivity);
    fire_free(activity);
    return st;
}

static fire_status_t report_all(fire_trainer_t *t, bool timeline)
{
    fire_profile_t  *p    = t->profile;
    fire_measured_t  m    = {.timeline = timeline};
    report_t         mine = {.nactivity = p->nactivity, .zero = p->zero}, *report;
    int              n    = fire_trainer_size(t);
    int64_t          most = 0;
    fire_activity_t *all  = NULL;
    fire_status_t    st;

    mine.times = fire_profile_take(p, &m.iterations);
    FIRE_TRY(FIRE_NEW(&report, n));
    FIRE_TRY_GOTO(st, gather(t, &mine, sizeof(mine), report), out);
    for (int k = 0; k < n; k++)
        most = report[k].nactivity > most ? report[k].nactivity : most;
    FIRE_TRY_GOTO(st, gather_activities(t, report, n, most, &all), out);
    st           = emit(t, report, n, all, most, m);
    p->nactivity = 0;
out:
    fire_free(all);
    fire_free(report);
    return st;
}

/* ---- called by the iteration ---- */

void fire_trainer_measure_begin(fire_trainer_t *t)
{
    if (t->profile == NULL) return;
    fire_profile_record(t->profile, is_recorded(t, t->solver->iter - t->began_iter));
    fire_profile_iteration_begin(t->profile);
}

fire_status_t fire_trainer_measure(fire_trainer_t *t)
{
    int64_t n = t->solver->iter - t->began_iter;

    if (t->profile == NULL) return FIRE_OK;
    FIRE_TRY(fire_reducer_measure(t->reducer));
    if (n > 0 && (n % ITERATIONS_BETWEEN == 0 || ends_pair(n)))
        FIRE_TRY(report_all(t, ends_pair(n)));
    return FIRE_OK;
}

fire_status_t fire_trainer_measure_end(fire_trainer_t *t)
{
    if (t->profile == NULL) return FIRE_OK;
    FIRE_TRY(fire_trainer_wait(t));
    FIRE_TRY(fire_reducer_measure(t->reducer));
    return report_all(t, false);
}
