/* data.c - writes runs as JSON for the report page, whose scripts read the names of its
 * members. */
#include "report/data.h"

#include <time.h>

/* Points per curve; rows of the table of times. */
enum { MOST_POINTS = 1500, MOST_TIMES = 400 };

static const char *const phase_names[FIRE_RUN_PHASES] = {"data", "forward", "backward",
                                                         "exposed", "update"};

/* Write a parsed JSON value as it was. */
static void write_json(fire_json_writer_t *w, const char *key, const fire_json_t *json)
{
    switch (json->kind) {
    case FIRE_JSON_NULL:
        fire_json_add_null(w, key);
        break;
    case FIRE_JSON_BOOL:
        fire_json_add_bool(w, key, json->boolean);
        break;
    case FIRE_JSON_NUMBER:
        fire_json_add_number(w, key, json->number);
        break;
    case FIRE_JSON_STRING:
        fire_json_add_string(w, key, json->string);
        break;
    case FIRE_JSON_ARRAY:
    case FIRE_JSON_OBJECT:
        fire_json_open(w, key, json->kind == FIRE_JSON_ARRAY ? '[' : '{');
        for (int64_t i = 0; i < json->n; i++)
            write_json(w, json->item[i].key, &json->item[i]);
        fire_json_close(w, json->kind == FIRE_JSON_ARRAY ? ']' : '}');
        break;
    }
}

/* Write a member of a line of the log (member NULL: the whole line), if it is there. */
static void write_member(fire_json_writer_t *w, const char *key,
                         const fire_json_t *line, const char *member)
{
    const fire_json_t *json = member != NULL ? fire_json_get(line, member) : line;

    if (json != NULL) write_json(w, key, json);
}

/* ---- parts of a run ---- */

/* All curves; at most MOST_POINTS points each. */
static void write_curves(fire_json_writer_t *w, const fire_run_t *run)
{
    fire_points_write(w, "loss", &run->loss, MOST_POINTS);
    fire_points_write(w, "smoothed", &run->smoothed, MOST_POINTS);
    fire_points_write(w, "lr", &run->lr, MOST_POINTS);
    fire_points_write(w, "speed", &run->speed, MOST_POINTS);
    fire_json_open(w, "curves", '[');
    for (int64_t i = 0; i < run->ncurve; i++) {
        fire_json_open(w, NULL, '{');
        fire_json_add_int(w, "net", run->curve[i].net);
        fire_json_add_string(w, "name", run->curve[i].name);
        fire_points_write(w, "points", &run->curve[i].points, MOST_POINTS);
        fire_json_close(w, '}');
    }
    fire_json_close(w, ']');
}

/* One column of times: `offset` is that of a double in fire_run_times_t. More than
 * MOST_TIMES rows become means of as many stretches. */
static void write_times_column(fire_json_writer_t *w, const char *key,
                               const fire_run_t *run, size_t offset)
{
    int64_t most = run->ntimes < MOST_TIMES ? run->ntimes : MOST_TIMES;

    fire_json_open(w, key, '[');
    for (int64_t i = 0; i < most; i++) {
        int64_t first = run->ntimes * i / most, end = run->ntimes * (i + 1) / most;
        double  sum = 0;

        for (int64_t k = first; k < end; k++)
            sum += *(const double *)((const char *)&run->times[k] + offset);
        fire_json_add_rounded(w, NULL, sum / (double)(end - first), 5);
    }
    fire_json_close(w, ']');
}

static void write_times(fire_json_writer_t *w, const fire_run_t *run)
{
    int64_t most = run->ntimes < MOST_TIMES ? run->ntimes : MOST_TIMES;

    if (run->ntimes == 0) return;
    fire_json_open(w, "times", '{');
    fire_json_open(w, "iter", '[');
    for (int64_t i = 0; i < most; i++)
        fire_json_add_int(w, NULL, run->times[run->ntimes * (i + 1) / most - 1].iter);
    fire_json_close(w, ']');
    write_times_column(w, "time", run, offsetof(fire_run_times_t, time));
    write_times_column(w, "seconds", run, offsetof(fire_run_times_t, seconds));
    for (int k = 0; k < FIRE_RUN_PHASES; k++)
        write_times_column(w, phase_names[k], run,
                           offsetof(fire_run_times_t, phase[k]));
    write_times_column(w, "hidden", run, offsetof(fire_run_times_t, hidden));
    write_times_column(w, "bytes", run, offsetof(fire_run_times_t, bytes));
    fire_json_close(w, '}');
}

/* Each worker's seconds, phases, hidden seconds and bytes per iteration. */
static void write_workers(fire_json_writer_t *w, const fire_run_t *run)
{
    double n = (double)run->measured;

    fire_json_open(w, "worker", '[');
    for (int64_t i = 0; i < run->nworker && n > 0; i++) {
        const fire_run_worker_t *x = &run->worker[i];

        fire_json_open(w, NULL, '{');
        fire_json_add_rounded(w, "seconds", x->seconds / n, 5);
        for (int k = 0; k < FIRE_RUN_PHASES; k++)
            fire_json_add_rounded(w, phase_names[k], x->phase[k] / n, 5);
        fire_json_add_rounded(w, "hidden", x->hidden / n, 5);
        fire_json_add_rounded(w, "bytes", x->bytes / n, 8);
        fire_json_close(w, '}');
    }
    fire_json_close(w, ']');
}

/* Snapshots, and the iterations at which the run was resumed. */
static void write_snapshots(fire_json_writer_t *w, const fire_run_t *run)
{
    fire_json_open(w, "snapshots", '[');
    for (int64_t i = 0; i < run->nsnapshot; i++) {
        fire_json_open(w, NULL, '{');
        fire_json_add_int(w, "iter", run->snapshot[i].iter);
        fire_json_add_rounded(w, "time", run->snapshot[i].time, 7);
        fire_json_add_string(w, "file", run->snapshot[i].file);
        fire_json_close(w, '}');
    }
    fire_json_close(w, ']');
    fire_json_open(w, "restarts", '[');
    for (int64_t i = 0; i < run->nrestart; i++)
        fire_json_add_int(w, NULL, run->restart[i]);
    fire_json_close(w, ']');
}

static void write_results(fire_json_writer_t *w, const fire_run_t *run)
{
    fire_json_open(w, "results", '[');
    for (int64_t i = 0; i < run->nresult; i++)
        write_json(w, NULL, run->result[i]);
    fire_json_close(w, ']');
}

static void write_extra(fire_json_writer_t *w, const fire_run_extra_t *x)
{
    if (x->filters != NULL) fire_json_add_raw(w, "filters", x->filters);
    if (x->confusion != NULL) fire_json_add_raw(w, "confusion", x->confusion);
    if (x->graph != NULL) fire_json_add_string(w, "graph", x->graph);
}

static void write_run(fire_json_writer_t *w, const fire_run_t *run,
                      const fire_run_extra_t *extra)
{
    fire_json_open(w, NULL, '{');
    fire_json_add_string(w, "name", run->name);
    fire_json_add_string(w, "state", fire_run_state_text(run));
    if (run->message != NULL) fire_json_add_string(w, "message", run->message);
    fire_json_add_int(w, "iter", run->iter);
    fire_json_add_rounded(w, "time", run->time, 7);
    fire_json_open(w, "notes", '[');
    fire_run_write_notes(w, run);
    fire_json_close(w, ']');
    write_member(w, "head", run->head, NULL);
    write_curves(w, run);
    write_times(w, run);
    write_workers(w, run);
    write_snapshots(w, run);
    write_results(w, run);
    write_member(w, "layers", run->net, "layers");
    write_member(w, "layerTimes", run->layers, NULL);
    write_member(w, "timeline", run->timeline, NULL);
    if (extra != NULL) write_extra(w, extra);
    fire_json_close(w, '}');
}

void fire_report_write(fire_json_writer_t *w, const fire_report_t *r)
{
    fire_json_open(w, NULL, '{');
    fire_json_add_string(w, "program", "FireCaffe " FIRE_VERSION);
    fire_json_add_int(w, "made", (int64_t)time(NULL));
    fire_json_add_bool(w, "live", r->live);
    fire_json_open(w, "runs", '[');
    for (int i = 0; i < r->nrun; i++)
        write_run(w, r->run[i], r->extra != NULL ? &r->extra[i] : NULL);
    fire_json_close(w, ']');
    fire_json_close(w, '}');
}
