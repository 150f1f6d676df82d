/* runlog.h - what a run leaves behind besides weights: run.jsonl (docs/formats/run.md
 * lists its lines and members) and, on request, a trace for Chrome or Perfetto and
 * scalars for TensorBoard.
 *
 * One worker writes it, rank 0. Writing is cheap: losses are collected and written
 * about once a second. Nothing here stops a training: a file that cannot be written any
 * more (disk full) is closed with a warning, and the run goes on without it.
 *
 * This room knows neither nets nor trainers; src/train/log.h fills in its structs. */
#ifndef FIRE_RUNLOG_RUNLOG_H
#define FIRE_RUNLOG_RUNLOG_H
#include "base/text/json.h"
#include "runlog/environment.h"
#include "runlog/measured.h"

enum { FIRE_RUNLOG_VERSION = 1 }; /* of run.jsonl */

typedef struct fire_runlog fire_runlog_t;

typedef struct fire_runlog_options {
    const char        *path;        /* of run.jsonl, or NULL */
    bool               append;      /* continue the file: the run is resumed */
    int64_t            missed;      /* iterations that are done and will be added */
    const char        *trace;       /* file, or NULL */
    const char        *tensorboard; /* directory, or NULL */
    const char        *kind;        /* "train", "bench", ... */
    int                argc;        /* the command line */
    const char *const *argv;
} fire_runlog_options_t;

/* The first line of run.jsonl: what is known when nets are built and weights or a state
 * are loaded. Only read by open(). */
typedef struct fire_runlog_head {
    const char        *net;            /* its name, "" without one */
    int                workers, lanes; /* of the run */
    int                threads;        /* that a worker computes with */
    int64_t            batch;          /* images per iteration, all workers */
    int64_t            epoch;          /* images in the data set; 0: unknown */
    int64_t            iter, max_iter; /* done already; to do in all */
    int64_t            seed;
    const char        *model;  /* the net as text, if the solver contains it; or NULL */
    const char        *solver; /* the solver as text, without that net */
    fire_environment_t environment;
} fire_runlog_head_t;

fire_status_t fire_runlog_open(const fire_runlog_options_t *options,
                               const fire_runlog_head_t *head, fire_runlog_t **log_p);
/* The run ends with this status, the last error says why; NULL is allowed. */
void fire_runlog_close(fire_runlog_t *log, fire_status_t outcome);

/* Write what is collected, for a reader of now. */
void fire_runlog_flush(fire_runlog_t *log);

/* A line of the caller's: begin_line() opens an object with type and time, the caller
 * adds members, end_line() writes it. Returns NULL if there is no run.jsonl. */
fire_json_writer_t *fire_runlog_begin_line(fire_runlog_t *log, const char *type);
void                fire_runlog_end_line(fire_runlog_t *log);

/* ---- what happens; iter counts the iterations done ---- */

void fire_runlog_add_iteration(fire_runlog_t *log, int64_t iter, double loss, double lr,
                               double seconds);

typedef struct fire_runlog_display {
    int64_t                   iter;
    double                    loss, lr;   /* smoothed over average_loss iterations */
    double                    loss_scale; /* of fp16; 0 without one */
    int                       noutput;
    const fire_named_value_t *output; /* of the training net */
} fire_runlog_display_t;

void fire_runlog_add_display(fire_runlog_t *log, const fire_runlog_display_t *d);
/* The mean of one output of test net `net`. */
void fire_runlog_add_test(fire_runlog_t *log, int64_t iter, int net, const char *output,
                          double value);
void fire_runlog_add_snapshot(fire_runlog_t *log, int64_t iter, const char *file);
void fire_runlog_add_measured(fire_runlog_t *log, const fire_measured_t *m);
#endif
