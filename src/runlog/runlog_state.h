/* runlog_state.h - what the files of the run log share. */
#ifndef FIRE_RUNLOG_RUNLOG_STATE_H
#define FIRE_RUNLOG_RUNLOG_STATE_H
#include "base/text/append.h"
#include "runlog/tensorboard.h"
#include "runlog/runlog.h"
#include "runlog/trace.h"
#include "train/trainer_state.h"

enum { FIRE_RUNLOG_LOSSES = 4096 };

struct fire_runlog {
    const fire_trainer_t *trainer;
    fire_append_t        *file; /* each is NULL if unwanted or broken */
    fire_trace_t         *trace;
    fire_tensorboard_t   *events;
    fire_json_writer_t    line;
    double                began; /* by fire_clock_now() */
    int64_t               batch; /* images per iteration */
    int64_t               iter;  /* iterations done */

    /* What the next line of iterations will hold. */
    double loss[FIRE_RUNLOG_LOSSES], seconds, lr, flushed;
    int    nloss;

    /* And the next line of times. */
    fire_times_t *times;
    int           nworker;
    int64_t       measured;
};

/* Open a line with type and time, for the caller to add members; write it. */
fire_json_writer_t *fire_runlog_begin_line(fire_runlog_t *log, const char *type);
void                fire_runlog_end_line(fire_runlog_t *log);

void fire_runlog_write_run(fire_runlog_t *log, const fire_runlog_options_t *options);
void fire_runlog_write_net(fire_runlog_t *log);

void fire_runlog_add_measured(fire_runlog_t *log, const fire_measured_t *m);
void fire_runlog_write_times(fire_runlog_t *log);
#endif
