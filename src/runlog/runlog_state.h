/* runlog_state.h - members of a run log, for the files runlog*.c. */
#ifndef FIRE_RUNLOG_RUNLOG_STATE_H
#define FIRE_RUNLOG_RUNLOG_STATE_H
#include "base/text/append.h"
#include "runlog/runlog.h"
#include "runlog/tensorboard.h"
#include "runlog/trace.h"

enum { FIRE_RUNLOG_LOSSES = 4096 }; /* most of one line */

struct fire_runlog {
    fire_append_t      *file;  /* run.jsonl */
    fire_trace_t       *trace; /* each of these three is NULL if unwanted or broken */
    fire_tensorboard_t *tensorboard;
    fire_json_writer_t  line;     /* being put together */
    double              began;    /* by fire_clock_now() */
    int64_t             batch;    /* images per iteration */
    int64_t             iter;     /* iterations done */
    int64_t             max_iter; /* at which the run is complete */

    /* For the next "iterations" line. */
    double loss[FIRE_RUNLOG_LOSSES];
    int    nloss;
    double seconds, lr; /* that they took; of the last one */
    double flushed;     /* when the last such line was written, since `began` */

    /* For the next "times" line. */
    fire_times_t *times; /* [nworker] sums */
    int           nworker;
    int64_t       measured; /* iterations in them */
};

/* runlog_head.c */
void fire_runlog_write_head(fire_runlog_t *log, const fire_runlog_options_t *options,
                            const fire_runlog_head_t *head);
/* runlog_times.c: add to the sums, and write a timeline if there is one to show; write
 * the sums and begin new ones. */
void fire_runlog_add_times(fire_runlog_t *log, const fire_measured_t *m);
void fire_runlog_write_times(fire_runlog_t *log);
#endif
