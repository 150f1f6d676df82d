/* runlog_times.c - lines of run.jsonl that say where time goes: "times" (phases of all
 * workers), "layers" (means of each layer), "timeline" (one iteration). */
#include <math.h>

#include "base/alloc.h"
#include "runlog/runlog_state.h"

enum { TIMELINE_WORKERS = 16 }; /* most that a timeline shows */

static void add_times(fire_json_writer_t *w, const char *key, const fire_runlog_t *log,
                      size_t offset)
{
    fire_json_open(w, key, '[');
    for (int i = 0; i < log->nworker; i++)
        fire_json_add_rounded(
            w, NULL, *(const double *)((const char *)&log->times[i] + offset), 5);
    fire_json_close(w, ']');
}

/* Times since the last such line; then begin with zeros. */
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

/* Out of memory only loses the measurement. */
static void add_up(fire_runlog_t *log, const fire_measured_t *m)
{
    if (m->nworker > log->nworker) {
        int64_t cap = log->nworker;

        if (fire_grow(&log->times, &cap, m->nworker, sizeof(*log->times)) < 0) return;
        log->nworker = m->nworker;
    }
    for (int i = 0; i < m->nworker; i++)
        fire_times_add(&log->times[i], &m->times[i]);
    log->measured += m->iterations;
}

static void add_layer_times(fire_json_writer_t *w, const char *key, const double *total,
                            const fire_layer_times_t *l)
{
    fire_json_open(w, key, '[');
    for (int i = 0; i < l->nlayer; i++)
        fire_json_add_rounded(w, NULL, total[i] / (double)l->passes, 4);
    fire_json_close(w, ']');
}

/* Mean seconds per pass of each layer, on the first worker. */
static void write_layers(fire_runlog_t *log, const fire_layer_times_t *l)
{
    fire_json_writer_t *w;

    if (log->file == NULL || l->passes == 0) return;
    w = fire_runlog_begin_line(log, "layers");
    fire_json_add_int(w, "iter", log->iter);
    add_layer_times(w, "forward", l->forward, l);
    add_layer_times(w, "backward", l->backward, l);
    fire_runlog_end_line(log);
}

/* The iteration to show is the last that ended; NULL if none did. */
static const fire_activity_t *find_iteration(const fire_activity_t *a, int64_t n)
{
    while (n > 0 && a[n - 1].kind != FIRE_ACTIVITY_ITERATION)
        n--;
    return n > 0 ? &a[n - 1] : NULL;
}

/* Workers may begin the iteration at different times: the timeline's zero is when the
 * first of them did. */
static double first_begin(const fire_measured_t *m)
{
    double zero = INFINITY;

    for (int i = 0; i < m->nworker; i++) {
        const fire_activity_t *it = find_iteration(m->activity[i], m->nactivity[i]);

        if (it != NULL) zero = fmin(zero, it->begin);
    }
    return zero;
}

/* What one worker did in the iteration, [kind, name, begin, seconds] each. With several
 * workers, exchanges go on while the next iteration's forward waits for them: what is
 * measured of that iteration is shown too. */
static void add_activities(fire_json_writer_t *w, const fire_measured_t *m, int worker,
                           double zero)
{
    const fire_activity_t *a  = m->activity[worker];
    int64_t                n  = m->nactivity[worker];
    const fire_activity_t *it = find_iteration(a, n);
    char                   name[256];

    fire_json_open(w, NULL, '[');
    for (int64_t i = 0; i < n && it != NULL; i++) {
        if (&a[i] == it || a[i].begin < it->begin) continue;
        if (a[i].begin > it->end && m->nworker == 1) continue;
        fire_json_open(w, NULL, '[');
        fire_json_add_string(w, NULL, fire_activity_names[a[i].kind]);
        fire_json_add_string(w, NULL,
                             fire_activity_name(&m->layers, &a[i], name, sizeof(name)));
        fire_json_add_rounded(w, NULL, a[i].begin - zero, 5);
        fire_json_add_rounded(w, NULL, a[i].end - a[i].begin, 4);
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
        add_activities(w, m, i, zero);
    fire_json_close(w, ']');
    fire_runlog_end_line(log);
    write_layers(log, &m->layers);
}

void fire_runlog_add_times(fire_runlog_t *log, const fire_measured_t *m)
{
    add_up(log, m);
    write_timeline(log, m);
}
