/* trace.c - writes what workers did in Google's Trace Event Format. */
#include "runlog/trace.h"

#include <stdio.h>

#include "base/alloc.h"
#include "base/text/append.h"

/* Rows of a worker, top to bottom. Buckets that are exchanged at the same time are
 * drawn in rows of their own, from ROW_EXCHANGE on. */
typedef enum row {
    ROW_ITERATION,
    ROW_DATA,
    ROW_COMPUTE,
    ROW_WAIT,
    ROW_UPDATE,
    ROW_EXCHANGE,
} row_t;

enum { EXCHANGE_ROWS = 16 };

static const char *const row_names[ROW_EXCHANGE] = {"iteration", "data", "compute",
                                                    "wait", "update"};

struct fire_trace {
    fire_append_t     *file;
    fire_json_writer_t line;
    int                nworker; /* whose rows have their names already */
    double             zero;    /* Unix time at which the trace begins */
    bool               more;    /* an event was written before: a comma is due */
};

static row_t row_of(const fire_layer_times_t *layers, const fire_activity_t *a)
{
    switch (a->kind) {
    case FIRE_ACTIVITY_EXCHANGE:
        return ROW_EXCHANGE;
    case FIRE_ACTIVITY_WAIT:
        return ROW_WAIT;
    case FIRE_ACTIVITY_UPDATE:
        return ROW_UPDATE;
    case FIRE_ACTIVITY_ITERATION:
        return ROW_ITERATION;
    default:
        return fire_activity_is_data(layers, a) ? ROW_DATA : ROW_COMPUTE;
    }
}

/* ---- events: "M" names a row, "X" is a stretch of time in it ---- */

static fire_json_writer_t *begin_event(fire_trace_t *t, const char *kind, int worker,
                                       int row, const char *name)
{
    fire_json_open(&t->line, NULL, '{');
    fire_json_add_string(&t->line, "ph", kind);
    fire_json_add_int(&t->line, "pid", worker);
    fire_json_add_int(&t->line, "tid", row);
    fire_json_add_string(&t->line, "name", name);
    return &t->line;
}

static fire_status_t end_event(fire_trace_t *t)
{
    fire_json_close(&t->line, '}');
    FIRE_TRY(fire_append_add(t->file, t->more ? ",\n" : "[\n", 2));
    t->more = true;
    return fire_append_json(t->file, &t->line, "");
}

static fire_status_t add_label(fire_trace_t *t, const char *kind, int worker, int row,
                               const char *name)
{
    fire_json_writer_t *w = begin_event(t, "M", worker, row, kind);

    fire_json_open(w, "args", '{');
    fire_json_add_string(w, "name", name);
    fire_json_close(w, '}');
    return end_event(t);
}

static fire_status_t add_labels(fire_trace_t *t, int worker)
{
    char name[32];

    snprintf(name, sizeof(name), "worker %d", worker);
    FIRE_TRY(add_label(t, "process_name", worker, 0, name));
    for (int i = 0; i < ROW_EXCHANGE; i++)
        FIRE_TRY(add_label(t, "thread_name", worker, i, row_names[i]));
    for (int i = 0; i < EXCHANGE_ROWS; i++) {
        snprintf(name, sizeof(name), "exchange %d", i);
        FIRE_TRY(add_label(t, "thread_name", worker, ROW_EXCHANGE + i, name));
    }
    return FIRE_OK;
}

/* The first row in which nothing is drawn any more when the exchange begins. */
static int find_free_row(double free_at[EXCHANGE_ROWS], const fire_activity_t *a)
{
    int row = 0;

    while (row < EXCHANGE_ROWS - 1 && free_at[row] > a->begin)
        row++;
    free_at[row] = a->end;
    return ROW_EXCHANGE + row;
}

/* offset: seconds from the trace's zero to the measurement's. Times in the file are
 * microseconds. */
static fire_status_t add_activity(fire_trace_t *t, int worker, int row, double offset,
                                  const fire_layer_times_t *layers,
                                  const fire_activity_t    *a)
{
    char                name[256];
    fire_json_writer_t *w = begin_event(
        t, "X", worker, row, fire_activity_name(layers, a, name, sizeof(name)));

    fire_json_add_string(w, "cat", fire_activity_names[a->kind]);
    fire_json_add_rounded(w, "ts", 1e6 * (a->begin + offset), 15);
    fire_json_add_rounded(w, "dur", 1e6 * (a->end - a->begin), 6);
    return end_event(t);
}

static fire_status_t add_worker(fire_trace_t *t, int worker, const fire_measured_t *m)
{
    double free_at[EXCHANGE_ROWS] = {0};

    if (m->nactivity[worker] > 0 && worker >= t->nworker) {
        FIRE_TRY(add_labels(t, worker));
        t->nworker = worker + 1;
    }
    for (int64_t i = 0; i < m->nactivity[worker]; i++) {
        const fire_activity_t *a   = &m->activity[worker][i];
        int                    row = (int)row_of(&m->layers, a);

        if (row == ROW_EXCHANGE) row = find_free_row(free_at, a);
        FIRE_TRY(add_activity(t, worker, row, m->zero - t->zero, &m->layers, a));
    }
    return FIRE_OK;
}

fire_status_t fire_trace_add(fire_trace_t *t, const fire_measured_t *m)
{
    if (!t->more) t->zero = m->zero;
    for (int k = 0; k < m->nworker; k++)
        FIRE_TRY(add_worker(t, k, m));
    return fire_append_flush(t->file);
}

/* ---- the file ---- */

fire_status_t fire_trace_open(const char *path, fire_trace_t **trace_p)
{
    fire_trace_t *t;
    fire_status_t st;

    FIRE_TRY(FIRE_NEW(&t, 1));
    st = fire_append_open(path, false, &t->file);
    if (st < 0)
        fire_free(t);
    else
        *trace_p = t;
    return st;
}

fire_status_t fire_trace_close(fire_trace_t *t)
{
    fire_status_t st, closed;

    if (t == NULL) return FIRE_OK;
    st     = fire_append_add(t->file, t->more ? "\n]\n" : "[]\n", 3);
    closed = fire_append_close(t->file);
    fire_json_writer_fini(&t->line);
    fire_free(t);
    return st < 0 ? st : closed;
}
