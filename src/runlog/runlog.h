/* runlog.h - what a run leaves behind besides weights: run.jsonl (docs/formats/run.md
 * says what is in it) and, where asked for, a trace for Chrome or Perfetto and events
 * for TensorBoard.
 *
 * One worker writes it, the first. Writing is cheap: losses are collected and leave
 * about once a second. What cannot be written any more (disk full) says so once and
 * falls silent; it never stops a training. */
#ifndef FIRE_RUNLOG_RUNLOG_H
#define FIRE_RUNLOG_RUNLOG_H
#include "train/trainer.h"

enum { FIRE_RUNLOG_VERSION = 1 };

typedef struct fire_runlog fire_runlog_t;

typedef struct fire_runlog_options {
    const char        *path;        /* of run.jsonl, or NULL */
    bool               append;      /* the run that it tells of goes on */
    const char        *trace;       /* file, or NULL */
    const char        *tensorboard; /* directory, or NULL */
    const char        *kind;        /* "train", "bench", ... */
    int                argc;        /* the command line */
    const char *const *argv;
} fire_runlog_options_t;

/* When the nets are built and weights or a state are loaded; writes what is known
 * then: environment, solver, net. */
fire_status_t fire_runlog_open(const fire_runlog_options_t *options,
                               const fire_trainer_t *trainer, fire_runlog_t **log_p);
void          fire_runlog_event(fire_runlog_t *log, const fire_train_event_t *e);
/* The run ends with this status; NULL is allowed. */
void fire_runlog_close(fire_runlog_t *log, fire_status_t outcome);
#endif
