#include "runlog/trace.h"

#include <stdio.h>

#include "base/alloc.h"
#include "base/text/append.h"
#include "net/net_state.h"

enum { EXCHANGE_LANES = 16 }; /* exchanges that run at once are drawn side by side */

struct fire_trace {
    fire_append_t     *file;
    const fire_net_t  *net;
    fire_json_writer_t line;
    int                nworker; /* that have been introduced */
    double             zero;    /* Unix time at which the trace begins */
    bool               more;    /* an event was written before */
};

const char *const fire_trace_row_names[FIRE_NROW] = {
    [FIRE_ROW_ITERATION] = "iteration", [FIRE_ROW_DATA] = "data",
    [FIRE_ROW_COMPUTE] = "compute",     [FIRE_ROW_WAIT] = "wait",
    [FIRE_ROW_UPDATE] = "update",       [FIRE_ROW_EXCHANGE] = "exchange"};

const char *const fire_activity_names[] = {
    [FIRE_ACTIVITY_FORWARD] = "forward",   [FIRE_ACTIVITY_BACKWARD] = "backward",
    [FIRE_ACTIVITY_EXCHANGE] = "exchange", [FIRE_ACTIVITY_WAIT] = "wait",
    [FIRE_ACTIVITY_UPDATE] = "update",     [FIRE_ACTIVITY_ITERATION] = "iteration"};

static const fire_layer_t *layer_of(const fire_net_t *net, const fire_activity_t *s)
{
    bool has_one =
        s->work == FIRE_ACTIVITY_FORWARD || s->work == FIRE_ACTIVITY_BACKWARD;

    return has_one && s->index < net->nlayer ? &net->layer[s->index].base : NULL;
}

fire_trace_row_t fire_trace_row_of(const fire_net_t *net, const fire_activity_t *s)
{
    const fire_layer_t *l = layer_of(net, s);

    switch (s->work) {
    case FIRE_ACTIVITY_EXCHANGE:
        return FIRE_ROW_EXCHANGE;
    case FIRE_ACTIVITY_WAIT:
        return FIRE_ROW_WAIT;
    case FIRE_ACTIVITY_UPDATE:
        return FIRE_ROW_UPDATE;
    case FIRE_ACTIVITY_ITERATION:
        return FIRE_ROW_ITERATION;
    default:
        return l != NULL && l->ops->flags & FIRE_LAYER_SOURCE ? FIRE_ROW_DATA
                                                              : FIRE_ROW_COMPUTE;
    }
}

const char *fire_activity_name(const fire_net_t *net, const fire_activity_t *s,
                               char *buf, size_t size)
{
    const fire_layer_t *l = layer_of(net, s);

    if (l != NULL)
        snprintf(buf, size, "%s",
                 l->param->name != NULL ? l->param->name : l->param->type);
    else if (s->work == FIRE_ACTIVITY_EXCHANGE)
        snprintf(buf, size, "bucket %d", s->index);
    else if (s->work == FIRE_ACTIVITY_ITERATION)
        snprintf(buf, size, "iteration +%d", s->index);
    else
        snprintf(buf, size, "%s", fire_activity_names[s->work]);
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
    for (int i = 0; i < FIRE_ROW_EXCHANGE; i++)
        FIRE_TRY(add_label(t, "thread_name", worker, i, fire_trace_row_names[i]));
    for (int i = 0; i < EXCHANGE_LANES; i++) {
        snprintf(name, sizeof(name), "exchange %d", i);
        FIRE_TRY(add_label(t, "thread_name", worker, FIRE_ROW_EXCHANGE + i, name));
    }
    return FIRE_OK;
}

/* The first lane that is free again when the exchange begins. */
static int exchange_lane(double free_at[EXCHANGE_LANES], const fire_activity_t *s)
{
    int lane = 0;

    while (lane < EXCHANGE_LANES - 1 && free_at[lane] > s->begin)
        lane++;
    free_at[lane] = s->end;
    return FIRE_ROW_EXCHANGE + lane;
}

static fire_status_t add_span(fire_trace_t *t, int worker, int lane, double offset,
                              const fire_activity_t *s)
{
    char                name[256];
    fire_json_writer_t *w =
        event(t, "X", worker, lane, fire_activity_name(t->net, s, name, sizeof(name)));

    fire_json_add_string(w, "cat", fire_activity_names[s->work]);
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
            const fire_activity_t *s    = &m->span[k][i];
            int                    lane = (int)fire_trace_row_of(t->net, s);

            if (lane == FIRE_ROW_EXCHANGE) lane = exchange_lane(free_at, s);
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
