/* measure.c - what workers measured comes together at every tenth iteration, at the one
 * moment when nothing is under way between them: after forward, before the first
 * gradient leaves. */
#include <string.h>

#include "base/alloc.h"
#include "train/trainer_state.h"

enum { ITERATIONS_BETWEEN = 10 };

/* ---- this worker ---- */

/* Pairs of iterations whose spans the run log shows: one in the beginning, then at each
 * power of ten. The second of a pair shows what of the first was still under way. */
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

/* ---- all workers ---- */

/* What a worker tells first; spans follow. */
typedef struct told {
    fire_times_t times;
    int64_t      nspan;
    double       zero;
} told_t;

static fire_status_t gather(fire_trainer_t *t, const void *mine, size_t bytes,
                            void *all)
{
    if (t->options.comm != NULL)
        return fire_comm_allgather(t->options.comm, mine, bytes, all);
    memcpy(all, mine, bytes);
    return FIRE_OK;
}

/* All spans, `most` for each worker, by the first worker's clock. */
static fire_status_t gather_spans(fire_trainer_t *t, const told_t *told, int n,
                                  int64_t most, fire_activity_t **all_p)
{
    fire_profile_t  *p = t->profile;
    fire_activity_t *all;
    fire_status_t    st = FIRE_OK;

    FIRE_TRY(fire_grow(&p->span, &p->span_cap, most, sizeof(*p->span)));
    FIRE_TRY(FIRE_NEW(&all, n * most));
    if (most > 0) st = gather(t, p->span, (size_t)most * sizeof(*all), all);
    for (int k = 0; k < n && st >= 0; k++)
        for (int64_t i = 0; i < told[k].nspan; i++) {
            all[k * most + i].begin += told[k].zero - told[0].zero;
            all[k * most + i].end += told[k].zero - told[0].zero;
        }
    if (st < 0)
        fire_free(all);
    else
        *all_p = all;
    return st;
}

/* Hand over what all workers told, as pointers into it. */
static fire_status_t emit(fire_trainer_t *t, const told_t *told, int n,
                          const fire_activity_t *all, int64_t most, fire_measured_t m)
{
    fire_times_t           *times = NULL;
    int64_t                *nspan = NULL;
    const fire_activity_t **span  = NULL;
    fire_status_t           st;

    FIRE_TRY_GOTO(st, FIRE_NEW(&times, n), out);
    FIRE_TRY_GOTO(st, FIRE_NEW(&nspan, n), out);
    FIRE_TRY_GOTO(st, FIRE_NEW(&span, n), out);
    for (int k = 0; k < n; k++) {
        times[k] = told[k].times;
        nspan[k] = told[k].nspan;
        span[k]  = all + k * most;
    }
    m.nworker = n;
    m.times   = times;
    m.nspan   = nspan;
    m.span    = span;
    m.zero    = told[0].zero;
    m.own     = t->profile;
    fire_trainer_emit(
        t, (fire_train_event_t){.kind = FIRE_TRAIN_MEASURED, .measured = &m});
out:
    fire_free(times);
    fire_free(nspan);
    fire_free(span);
    return st;
}

static fire_status_t tell(fire_trainer_t *t, bool timeline)
{
    fire_profile_t  *p    = t->profile;
    fire_measured_t  m    = {.timeline = timeline};
    told_t           mine = {.nspan = p->nspan, .zero = p->zero}, *told;
    int              n    = fire_trainer_size(t);
    int64_t          most = 0;
    fire_activity_t *all  = NULL;
    fire_status_t    st;

    mine.times = fire_profile_take(p, &m.iterations);
    FIRE_TRY(FIRE_NEW(&told, n));
    FIRE_TRY_GOTO(st, gather(t, &mine, sizeof(mine), told), out);
    for (int k = 0; k < n; k++)
        most = told[k].nspan > most ? told[k].nspan : most;
    FIRE_TRY_GOTO(st, gather_spans(t, told, n, most, &all), out);
    st       = emit(t, told, n, all, most, m);
    p->nspan = 0;
out:
    fire_free(all);
    fire_free(told);
    return st;
}

/* ---- the trainer's three moments ---- */

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
        FIRE_TRY(tell(t, ends_pair(n)));
    return FIRE_OK;
}

fire_status_t fire_trainer_measure_end(fire_trainer_t *t)
{
    if (t->profile == NULL) return FIRE_OK;
    FIRE_TRY(fire_trainer_sync(t));
    FIRE_TRY(fire_reducer_measure(t->reducer));
    return tell(t, false);
}
