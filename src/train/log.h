/* log.h - the run log of a training: describes a trainer and its events to
 * src/runlog. */
#ifndef FIRE_TRAIN_LOG_H
#define FIRE_TRAIN_LOG_H
#include "runlog/runlog.h"
#include "train/trainer.h"

/* Open the log when nets are built and weights or a state are loaded; writes what is
 * known then: environment, solver, net. fire_runlog_close() ends it. */
fire_status_t fire_train_log_open(const fire_runlog_options_t *options,
                                  const fire_trainer_t *trainer, fire_runlog_t **log_p);
/* Pass on every event that the trainer's callback gets; what it measured goes to
 * fire_runlog_add_measured(). */
void fire_train_log_event(fire_runlog_t *log, const fire_train_event_t *e);

/* Members of an open JSON object that describe machine and program (environment.h);
 * also for logs of other kinds of runs. */
void fire_train_log_environment(fire_json_writer_t *w);
#endif
