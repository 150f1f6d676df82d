#include "runlog/runlog.h"

#include <stdio.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "runlog/runlog_state.h"

/* Losses leave about once a second; later in a long run less often, so that the number
 * of lines grows with the logarithm of time only. */
static const double SECONDS_BETWEEN_LINES = 1, SHARE_OF_RUN = 1.0 / 3600;

static double now(const fire_runlog_t *log)
{
    return fire_clock_now() - log->began;
}

/* ---- lines; a file that breaks is closed, with a word ---- */

static void write_line(fire_runlog_t *log)
{
    fire_status_t st = fire_append_json(log->file, &log->line, "\n");

    if (st >= 0) st = fire_append_flush(log->file);
    if (st >= 0) return;
    FIRE_LOG(WARNING, "%s: the run goes on without its log", fire_last_error());
    fire_append_close(log->file);
    log->file = NULL;
}

fire_json_writer_t *fire_runlog_begin_line(fire_runlog_t *log, const char *type)
{
    fire_json_open(&log->line, NULL, '{');
    fire_json_add_string(&log->line, "type", type);
    fire_json_add_rounded(&log->line, "time", now(log), 9);
    return &log->line;
}

void fire_runlog_end_line(fire_runlog_t *log)
{
    fire_json_close(&log->line, '}');
    write_line(log);
}

static void settle_events(fire_runlog_t *log, fire_status_t st)
{
    if (st >= 0) return;
    FIRE_LOG(WARNING, "%s: the run goes on without TensorBoard's events",
             fire_last_error());
    fire_tensorboard_close(log->events);
    log->events = NULL;
}

static void add_event(fire_runlog_t *log, const char *tag, int64_t iter, double value)
{
    if (log->events != NULL)
        settle_events(log, fire_tensorboard_add(log->events, tag, iter,
                                                fire_profile_unix_now(), value));
}

/* ---- events of the trainer ---- */

static void write_iterations(fire_runlog_t *log)
{
    fire_json_writer_t *w;

    if (log->file == NULL || log->nloss == 0) return;
    w = fire_runlog_begin_line(log, "iterations");
    fire_json_add_int(w, "iter", log->iter - log->nloss);
    fire_json_add_rounded(w, "seconds", log->seconds, 6);
    fire_json_add_float(w, "lr", (float)log->lr);
    fire_json_open(w, "loss", '[');
    for (int i = 0; i < log->nloss; i++)
        fire_json_add_rounded(w, NULL, log->loss[i], 6);
    fire_json_close(w, ']');
    fire_runlog_end_line(log);
}

static void flush(fire_runlog_t *log)
{
    write_iterations(log);
    fire_runlog_write_times(log);
    if (log->seconds > 0)
        add_event(log, "speed/images_per_second", log->iter - 1,
                  (double)(log->nloss * log->batch) / log->seconds);
    if (log->events != NULL) settle_events(log, fire_tensorboard_flush(log->events));
    log->nloss   = 0;
    log->seconds = 0;
    log->flushed = now(log);
}

static void on_iteration(fire_runlog_t *log, const fire_train_event_t *e)
{
    double t = now(log), gap = t * SHARE_OF_RUN;

    log->iter = e->iter;
    log->lr   = e->lr;
    log->seconds += e->seconds;
    log->loss[log->nloss++] = e->loss;
    if (gap < SECONDS_BETWEEN_LINES) gap = SECONDS_BETWEEN_LINES;
    if (t - log->flushed >= gap || log->nloss == FIRE_RUNLOG_LOSSES) flush(log);
}

static void on_display(fire_runlog_t *log, const fire_train_event_t *e)
{
    int64_t             iter = e->iter - 1;
    fire_json_writer_t *w;

    add_event(log, "train/loss", iter, e->loss);
    add_event(log, "train/lr", iter, e->lr);
    if (log->file == NULL) return;
    w = fire_runlog_begin_line(log, "display");
    fire_json_add_int(w, "iter", iter);
    fire_json_add_float(w, "loss", (float)e->loss);
    fire_json_add_float(w, "lr", (float)e->lr);
    if (e->loss_scale > 0) fire_json_add_float(w, "loss_scale", (float)e->loss_scale);
    fire_json_open(w, "outputs", '[');
    for (int i = 0; i < e->noutput; i++) {
        fire_json_open(w, NULL, '[');
        fire_json_add_string(w, NULL, e->output[i].name);
        fire_json_add_float(w, NULL, (float)e->output[i].value);
        fire_json_close(w, ']');
    }
    fire_json_close(w, ']');
    fire_runlog_end_line(log);
}

static void on_test(fire_runlog_t *log, const fire_train_event_t *e)
{
    char                tag[256];
    fire_json_writer_t *w;

    if (e->test_net == 0)
        snprintf(tag, sizeof(tag), "test/%s", e->name);
    else
        snprintf(tag, sizeof(tag), "test%d/%s", e->test_net, e->name);
    add_event(log, tag, e->iter, e->value);
    if (log->file == NULL) return;
    w = fire_runlog_begin_line(log, "test");
    fire_json_add_int(w, "iter", e->iter);
    fire_json_add_int(w, "net", e->test_net);
    fire_json_add_string(w, "name", e->name);
    fire_json_add_float(w, "value", (float)e->value);
    fire_runlog_end_line(log);
}

static void on_snapshot(fire_runlog_t *log, const fire_train_event_t *e)
{
    fire_json_writer_t *w;

    flush(log);
    if (log->file == NULL) return;
    w = fire_runlog_begin_line(log, "snapshot");
    fire_json_add_int(w, "iter", e->iter);
    fire_json_add_string(w, "file", e->name);
    fire_runlog_end_line(log);
}

static void on_measured(fire_runlog_t *log, const fire_measured_t *m)
{
    fire_runlog_add_measured(log, m);
    if (log->trace == NULL || fire_trace_add(log->trace, m) >= 0) return;
    FIRE_LOG(WARNING, "%s: the run goes on without its trace", fire_last_error());
    fire_trace_close(log->trace);
    log->trace = NULL;
}

void fire_runlog_event(fire_runlog_t *log, const fire_train_event_t *e)
{
    switch (e->kind) {
    case FIRE_TRAIN_ITERATION:
        on_iteration(log, e);
        break;
    case FIRE_TRAIN_DISPLAY:
        on_display(log, e);
        break;
    case FIRE_TRAIN_MEASURED:
        on_measured(log, e->measured);
        break;
    case FIRE_TRAIN_TEST:
        on_test(log, e);
        break;
    case FIRE_TRAIN_SNAPSHOT:
        on_snapshot(log, e);
        break;
    case FIRE_TRAIN_START:
    case FIRE_TRAIN_DONE:
        break;
    }
}

/* ---- begin and end ---- */

static void destroy(fire_runlog_t *log)
{
    fire_append_close(log->file);
    fire_trace_close(log->trace);
    fire_tensorboard_close(log->events);
    fire_json_writer_fini(&log->line);
    fire_free(log->times);
    fire_free(log);
}

fire_status_t fire_runlog_open(const fire_runlog_options_t *o,
                               const fire_trainer_t *trainer, fire_runlog_t **log_p)
{
    fire_runlog_t *log;
    fire_status_t  st;

    FIRE_TRY(FIRE_NEW(&log, 1));
    log->trainer = trainer;
    log->began   = fire_clock_now();
    log->batch   = trainer->batch * trainer->param->iter_size;
    log->iter    = trainer->solver->iter;
    if (o->path != NULL)
        FIRE_TRY_GOTO(st, fire_append_open(o->path, o->append, &log->file), err_log);
    if (o->trace != NULL)
        FIRE_TRY_GOTO(st, fire_trace_open(o->trace, trainer->net, &log->trace),
                      err_log);
    if (o->tensorboard != NULL)
        FIRE_TRY_GOTO(st, fire_tensorboard_open(o->tensorboard, &log->events), err_log);
    if (log->file != NULL) fire_runlog_write_run(log, o);
    if (log->file != NULL) fire_runlog_write_net(log);
    *log_p = log;
    return FIRE_OK;

err_log:
    destroy(log);
    return st;
}

void fire_runlog_close(fire_runlog_t *log, fire_status_t outcome)
{
    fire_json_writer_t *w;
    bool                all;

    if (log == NULL) return;
    flush(log);
    all = log->iter >= log->trainer->param->max_iter;
    if (log->file != NULL) {
        w = fire_runlog_begin_line(log, "end");
        fire_json_add_int(w, "iter", log->iter);
        fire_json_add_string(w, "status",
                             outcome < 0 ? "failed"
                             : all       ? "done"
                                         : "stopped");
        if (outcome < 0) fire_json_add_string(w, "message", fire_last_error());
        fire_runlog_end_line(log);
    }
    destroy(log);
}
