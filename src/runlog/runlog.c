/* runlog.c - what happens in a run, as lines of run.jsonl and scalars of
 * TensorBoard. */
#include "runlog/runlog.h"

#include <stdio.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "runlog/runlog_state.h"

/* Seconds between two "iterations" lines: at least one, and later in a long run this
 * fraction of the time so far, so that the number of lines grows with the logarithm of
 * time only. */
static const double SHORTEST_GAP = 1, GAP_OF_RUN = 1.0 / 3600;

/* Seconds since the log was opened. */
static double now(const fire_runlog_t *log)
{
    return fire_clock_now() - log->began;
}

/* ---- files; one that fails is closed, with a warning ---- */

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
    if (log->file == NULL) return NULL;
    fire_json_open(&log->line, NULL, '{');
    fire_json_add_string(&log->line, "type", type);
    fire_json_add_rounded(&log->line, "time", now(log), 9);
    return &log->line;
}

void fire_runlog_end_line(fire_runlog_t *log)
{
    if (log->file == NULL) return;
    fire_json_close(&log->line, '}');
    write_line(log);
}

static void check_tensorboard(fire_runlog_t *log, fire_status_t st)
{
    if (st >= 0) return;
    FIRE_LOG(WARNING, "%s: the run goes on without TensorBoard's events",
             fire_last_error());
    fire_tensorboard_close(log->tensorboard);
    log->tensorboard = NULL;
}

/* TensorBoard takes one value at a time. */
static void add_scalar(fire_runlog_t *log, const char *tag, int64_t iter, double value)
{
    if (log->tensorboard != NULL)
        check_tensorboard(log, fire_tensorboard_add(log->tensorboard, tag, iter,
                                                    fire_clock_unix(), value));
}

/* ---- what happens ---- */

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

/* Write what is collected: losses, times, the speed for TensorBoard. */
void fire_runlog_flush(fire_runlog_t *log)
{
    write_iterations(log);
    fire_runlog_write_times(log);
    if (log->seconds > 0)
        add_scalar(log, "speed/images_per_second", log->iter - 1,
                   (double)(log->nloss * log->batch) / log->seconds);
    if (log->tensorboard != NULL)
        check_tensorboard(log, fire_tensorboard_flush(log->tensorboard));
    log->nloss   = 0;
    log->seconds = 0;
    log->flushed = now(log);
}

void fire_runlog_add_iteration(fire_runlog_t *log, int64_t iter, double loss, double lr,
                               double seconds)
{
    double t = now(log), gap = t * GAP_OF_RUN;

    log->iter = iter;
    log->lr   = lr;
    log->seconds += seconds;
    log->loss[log->nloss++] = loss;
    if (gap < SHORTEST_GAP) gap = SHORTEST_GAP;
    if (t - log->flushed >= gap || log->nloss == FIRE_RUNLOG_LOSSES)
        fire_runlog_flush(log);
}

void fire_runlog_add_display(fire_runlog_t *log, const fire_runlog_display_t *d)
{
    int64_t             iter = d->iter - 1;
    fire_json_writer_t *w;

    add_scalar(log, "train/loss", iter, d->loss);
    add_scalar(log, "train/lr", iter, d->lr);
    if (log->file == NULL) return;
    w = fire_runlog_begin_line(log, "display");
    fire_json_add_int(w, "iter", iter);
    fire_json_add_float(w, "loss", (float)d->loss);
    fire_json_add_float(w, "lr", (float)d->lr);
    if (d->loss_scale > 0) fire_json_add_float(w, "loss_scale", (float)d->loss_scale);
    fire_json_open(w, "outputs", '[');
    for (int i = 0; i < d->noutput; i++) {
        fire_json_open(w, NULL, '[');
        fire_json_add_string(w, NULL, d->output[i].name);
        fire_json_add_float(w, NULL, (float)d->output[i].value);
        fire_json_close(w, ']');
    }
    fire_json_close(w, ']');
    fire_runlog_end_line(log);
}

void fire_runlog_add_test(fire_runlog_t *log, int64_t iter, int net, const char *output,
                          double value)
{
    char                tag[256];
    fire_json_writer_t *w;

    if (net == 0)
        snprintf(tag, sizeof(tag), "test/%s", output);
    else
        snprintf(tag, sizeof(tag), "test%d/%s", net, output);
    add_scalar(log, tag, iter, value);
    if (log->file == NULL) return;
    w = fire_runlog_begin_line(log, "test");
    fire_json_add_int(w, "iter", iter);
    fire_json_add_int(w, "net", net);
    fire_json_add_string(w, "name", output);
    fire_json_add_float(w, "value", (float)value);
    fire_runlog_end_line(log);
}

void fire_runlog_add_snapshot(fire_runlog_t *log, int64_t iter, const char *file)
{
    fire_json_writer_t *w;

    fire_runlog_flush(log);
    if (log->file == NULL) return;
    w = fire_runlog_begin_line(log, "snapshot");
    fire_json_add_int(w, "iter", iter);
    fire_json_add_string(w, "file", file);
    fire_runlog_end_line(log);
}

void fire_runlog_add_measured(fire_runlog_t *log, const fire_measured_t *m)
{
    fire_runlog_add_times(log, m);
    if (log->trace == NULL || fire_trace_add(log->trace, m) >= 0) return;
    FIRE_LOG(WARNING, "%s: the run goes on without its trace", fire_last_error());
    fire_trace_close(log->trace);
    log->trace = NULL;
}

/* ---- begin and end ---- */

static void destroy(fire_runlog_t *log)
{
    fire_append_close(log->file);
    fire_trace_close(log->trace);
    fire_tensorboard_close(log->tensorboard);
    fire_json_writer_fini(&log->line);
    fire_free(log->times);
    fire_free(log);
}

fire_status_t fire_runlog_open(const fire_runlog_options_t *o,
                               const fire_runlog_head_t *head, fire_runlog_t **log_p)
{
    fire_runlog_t *log;
    fire_status_t  st;

    FIRE_TRY(FIRE_NEW(&log, 1));
    log->began    = fire_clock_now();
    log->batch    = head->batch;
    log->iter     = head->iter;
    log->max_iter = head->max_iter;
    if (o->path != NULL)
        FIRE_TRY_GOTO(st, fire_append_open(o->path, o->append, &log->file), err_log);
    if (o->trace != NULL)
        FIRE_TRY_GOTO(st, fire_trace_open(o->trace, &log->trace), err_log);
    if (o->tensorboard != NULL)
        FIRE_TRY_GOTO(st, fire_tensorboard_open(o->tensorboard, &log->tensorboard),
                      err_log);
    if (log->file != NULL) fire_runlog_write_head(log, o, head);
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
    fire_runlog_flush(log);
    all = log->iter >= log->max_iter;
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
