/* runlog_times.c - lines about where time goes: phases of all workers, layers, the
 * timeline of an iteration. */
#include <math.h>

#include "base/alloc.h"
#include "net/net_state.h"
#include "runlog/runlog_state.h"

enum { TIMELINE_WORKERS = 16 };

static void add_times(fire_json_writer_t *w, const char *key, const fire_runlog_t *log,
                      size_t offset)
{
    fire_json_open(w, key, '[');
    for (int i = 0; i < log->nworker; i++)
        fire_json_add_rounded(
            w, NULL, *(const double *)((const char *)&log->times[i] + offset), 5);
    fire_json_close(w, ']');
}

void fire_runlog_write_times(fire_runlog_t *log)
{
    fire_json_writer_t *w;

    if (log->measured == 0 || log->file == NULL) return;
    w = fire_runlog_begin_line(log, "times");
    fire_json_add_int(w, "iter", log->iter);
    fire_json_add_int(w, "n", log->measured);
    add_times(w, "seconds", log, offsetof(fire_times_t, seconds));
    for (int i = 0; i < FIRE_NPHASE; i++)
        add_times(w, fire_phase_names[i], log, offsetof(fire_times_t, phase[i]));
    add_times(w, "hidden", log, offsetof(fire_times_t, hidden));
    fire_json_open(w, "bytes", '[');
    for (int i = 0; i < log->nworker; i++)
        fire_json_add_int(w, NULL, log->times[i].bytes);
    fire_json_close(w, ']');
    fire_runlog_end_line(log);
    log->measured = 0;
    for (int i = 0; i < log->nworker; i++)
        log->times[i] = (fire_times_t){0};
}

static void add_up(fire_runlog_t *log, const fire_measured_t *m)
{
    if (m->nworker > log->nworker) {
        int64_t cap = log->nworker;

        if (fire_grow(&log->times, &cap, m->nworker, sizeof(*log->times)) < 0) return;
        log->nworker = m->nworker;
    }
    for (int i = 0; i < m->nworker; i++) {
        const fire_times_t *from = &m->times[i];
        fire_times_t       *to   = &log->times[i];

        to->seconds += from->seconds;
        to->hidden += from->hidden;
        to->bytes += from->bytes;
        for (int k = 0; k < FIRE_NPHASE; k++)
            to->phase[k] += from->phase[k];
    }
    log->measured += m->iterations;
}

static void add_layer_times(fire_json_writer_t *w, const char *key, const double *total,
                            const fire_profile_t *p)
{
    fire_json_open(w, key, '[');
    for (int i = 0; i < p->net->nlayer; i++)
        fire_json_add_rounded(w, NULL, total[i] / (double)p->passes, 4);
    fire_json_close(w, ']');
}

/* Mean seconds per pass of each layer, on the first worker. */
static void write_layers(fire_runlog_t *log, const fire_profile_t *p)
{
    fire_json_writer_t *w;

    if (log->file == NULL || p == NULL || p->passes == 0) return;
    w = fire_runlog_begin_line(log, "layers");
    fire_json_add_int(w, "iter", log->iter);
    add_layer_times(w, "forward", p->forward, p);
    add_layer_times(w, "backward", p->backward, p);
    fire_runlog_end_line(log);
}

/* The iteration to show is the last that ended; NULL if none did. */
static const fire_activity_t *find_iteration(const fire_activity_t *span, int64_t n)
{
    while (n > 0 && span[n - 1].work != FIRE_ACTIVITY_ITERATION)
        n--;
    return n > 0 ? &span[n - 1] : NULL;
}

/* Workers need not begin at once: zero is when the first did. */
static double first_begin(const fire_measured_t *m)
{
    double zero = INFINITY;

    for (int i = 0; i < m->nworker; i++) {
        const fire_activity_t *it = find_iteration(m->span[i], m->nspan[i]);

        if (it != NULL) zero = fmin(zero, it->begin);
    }
    return zero;
}

/* What one worker did in the iteration, [work, name, begin, seconds] each. Exchanges
 * reach into the next iteration, whose forward waits for them: if there are any, as
 * much of it is shown. */
static void add_spans(fire_json_writer_t *w, const fire_net_t *net,
                      const fire_activity_t *span, int64_t n, double zero, bool next)
{
    const fire_activity_t *it = find_iteration(span, n);
    char                   name[256];

    fire_json_open(w, NULL, '[');
    for (int64_t i = 0; i < n && it != NULL; i++) {
        const fire_activity_t *s = &span[i];

        if (s == it || s->begin < it->begin || (s->begin > it->end && !next)) continue;
        fire_json_open(w, NULL, '[');
        fire_json_add_string(w, NULL, fire_activity_names[s->work]);
        fire_json_add_string(w, NULL, fire_activity_name(net, s, name, sizeof(name)));
        fire_json_add_rounded(w, NULL, s->begin - zero, 5);
        fire_json_add_rounded(w, NULL, s->end - s->begin, 4);
        fire_json_close(w, ']');
    }
    fire_json_close(w, ']');
}

static void write_timeline(fire_runlog_t *log, const fire_measured_t *m)
{
    double              zero = first_begin(m);
    fire_json_writer_t *w;

    if (log->file == NULL || !m->timeline || !isfinite(zero)) return;
    w = fire_runlog_begin_line(log, "timeline");
    fire_json_add_int(w, "iter", log->iter - 1);
    fire_json_open(w, "workers", '[');
    for (int i = 0; i < m->nworker && i < TIMELINE_WORKERS; i++)
        add_spans(w, log->trainer->net, m->span[i], m->nspan[i], zero, m->nworker > 1);
    fire_json_close(w, ']');
    fire_runlog_end_line(log);
    write_layers(log, m->own);
}

void fire_runlog_add_measured(fire_runlog_t *log, const fire_measured_t *m)
{
    add_up(log, m);
    write_timeline(log, m);
}
