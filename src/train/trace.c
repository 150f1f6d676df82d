#include "train/trace.h"

#include <stdio.h>

#include "base/alloc.h"
#include "base/text/append.h"

enum { EXCHANGE_LANES = 16 }; /* exchanges that run at once are drawn side by side */

struct fire_trace {
    fire_append_t     *file;
    const fire_net_t  *net;
    fire_json_writer_t line;
    int                nworker; /* that have been introduced */
    double             zero;    /* Unix time at which the trace begins */
    bool               more;    /* an event was written before */
};

const char *const fire_lane_names[FIRE_NLANE] = {
    [FIRE_LANE_ITERATION] = "iteration", [FIRE_LANE_DATA] = "data",
    [FIRE_LANE_COMPUTE] = "compute",     [FIRE_LANE_WAIT] = "wait",
    [FIRE_LANE_UPDATE] = "update",       [FIRE_LANE_EXCHANGE] = "exchange"};

const char *const fire_work_names[] = {
    [FIRE_WORK_FORWARD] = "forward",   [FIRE_WORK_BACKWARD] = "backward",
    [FIRE_WORK_EXCHANGE] = "exchange", [FIRE_WORK_WAIT] = "wait",
    [FIRE_WORK_UPDATE] = "update",     [FIRE_WORK_ITERATION] = "iteration"};

static const fire_layer_t *layer_of(const fire_net_t *net, const fire_work_span_t *s)
{
    bool has_one = s->work == FIRE_WORK_FORWARD || s->work == FIRE_WORK_BACKWARD;

    return has_one && s->index < net->nlayer ? &net->layer[s->index].base : NULL;
}

fire_lane_t fire_lane_of(const fire_net_t *net, const fire_work_span_t *s)
{
    const fire_layer_t *l = layer_of(net, s);

    switch (s->work) {
    case FIRE_WORK_EXCHANGE:
        return FIRE_LANE_EXCHANGE;
    case FIRE_WORK_WAIT:
        return FIRE_LANE_WAIT;
    case FIRE_WORK_UPDATE:
        return FIRE_LANE_UPDATE;
    case FIRE_WORK_ITERATION:
        return FIRE_LANE_ITERATION;
    default:
        return l != NULL && l->ops->flags & FIRE_LAYER_SOURCE ? FIRE_LANE_DATA
                                                              : FIRE_LANE_COMPUTE;
    }
}

const char *fire_span_name(const fire_net_t *net, const fire_work_span_t *s, char *buf,
                           size_t size)
{
    const fire_layer_t *l = layer_of(net, s);

    if (l != NULL)
        snprintf(buf, size, "%s",
                 l->param->name != NULL ? l->param->name : l->param->type);
    else if (s->work == FIRE_WORK_EXCHANGE)
        snprintf(buf, size, "bucket %d", s->index);
    else if (s->work == FIRE_WORK_ITERATION)
        snprintf(buf, size, "iteration +%d", s->index);
    else
        snprintf(buf, size, "%s", fire_work_names[s->work]);
    return buf;
}

/* ---- events, one a line; the format allows that the last bracket is missing, so a
 * trace of a killed run can be opened too ---- */

static fire_json_writer_t *event(fire_trace_t *t, const char *kind, int worker,
                                 int lane, const char *name)
{
    fire_json_open(&t->line, NULL, '{');
    fire_json_add_string(&t->line, "ph", kind);
    fire_json_add_int(&t->line, "pid", worker);
    fire_json_add_int(&t->line, "tid", lane);
    fire_json_add_string(&t->line, "name", name);
    return &t->line;
}

static fire_status_t event_end(fire_trace_t *t)
{
    fire_json_close(&t->line, '}');
    FIRE_TRY(fire_append_add(t->file, t->more ? ",\n" : "[\n", 2));
    t->more = true;
    return fire_append_json(t->file, &t->line, "");
}

static fire_status_t add_label(fire_trace_t *t, const char *kind, int worker, int lane,
                               const char *name)
{
    fire_json_writer_t *w = event(t, "M", worker, lane, kind);

    fire_json_open(w, "args", '{');
    fire_json_add_string(w, "name", name);
    fire_json_close(w, '}');
    return event_end(t);
}

static fire_status_t introduce(fire_trace_t *t, int worker)
{
    char name[32];

    snprintf(name, sizeof(name), "worker %d", worker);
    FIRE_TRY(add_label(t, "process_name", worker, 0, name));
    for (int i = 0; i < FIRE_LANE_EXCHANGE; i++)
        FIRE_TRY(add_label(t, "thread_name", worker, i, fire_lane_names[i]));
    for (int i = 0; i < EXCHANGE_LANES; i++) {
        snprintf(name, sizeof(name), "exchange %d", i);
        FIRE_TRY(add_label(t, "thread_name", worker, FIRE_LANE_EXCHANGE + i, name));
    }
    return FIRE_OK;
}

/* The first lane that is free again when the exchange begins. */
static int exchange_lane(double free_at[EXCHANGE_LANES], const fire_work_span_t *s)
{
    int lane = 0;

    while (lane < EXCHANGE_LANES - 1 && free_at[lane] > s->begin)
        lane++;
    free_at[lane] = s->end;
    return FIRE_LANE_EXCHANGE + lane;
}

static fire_status_t add_span(fire_trace_t *t, int worker, int lane, double offset,
                              const fire_work_span_t *s)
{
    char                name[256];
    fire_json_writer_t *w =
        event(t, "X", worker, lane, fire_span_name(t->net, s, name, sizeof(name)));

    fire_json_add_string(w, "cat", fire_work_names[s->work]);
    fire_json_add_rounded(w, "ts", 1e6 * (s->begin + offset), 15);
    fire_json_add_rounded(w, "dur", 1e6 * (s->end - s->begin), 6);
    return event_end(t);
}

fire_status_t fire_trace_add(fire_trace_t *t, const fire_measured_t *m)
{
    if (!t->more) t->zero = m->zero;
    for (int k = 0; k < m->nworker; k++) {
        double free_at[EXCHANGE_LANES] = {0};

        if (m->nspan[k] > 0 && k >= t->nworker) {
            FIRE_TRY(introduce(t, k));
            t->nworker = k + 1;
        }
        for (int64_t i = 0; i < m->nspan[k]; i++) {
            const fire_work_span_t *s    = &m->span[k][i];
            int                     lane = (int)fire_lane_of(t->net, s);

            if (lane == FIRE_LANE_EXCHANGE) lane = exchange_lane(free_at, s);
            FIRE_TRY(add_span(t, k, lane, m->zero - t->zero, s));
        }
    }
    return fire_append_flush(t->file);
}

fire_status_t fire_trace_open(const char *path, const fire_net_t *net,
                              fire_trace_t **trace_p)
{
    fire_trace_t *t;
    fire_status_t st;

    FIRE_TRY(FIRE_NEW(&t, 1));
    t->net = net;
    st     = fire_append_open(path, false, &t->file);
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
