/* run.h - flags that say what a training writes besides weights. */
#ifndef FIRE_TOOLS_FLAGS_RUN_H
#define FIRE_TOOLS_FLAGS_RUN_H
#include "base/text/options.h"
#include "train/log.h"
#include "train/snapshot/lock.h"

typedef struct run_flags {
    const char *run_dir, *trace, *tensorboard, *repeat;
    int64_t     trace_iterations;
    bool        trust;
} run_flags_t;

extern run_flags_t         run_flags;
extern const fire_option_t run_options[];

/* --repeat RUN_DIR: run what that run trained again, in its directory, with the solver
 * and net kept in RUN_DIR and a new run directory. Replaces this process: it returns
 * only without --repeat, or on failure. (repeat.c) */
fire_status_t run_flags_repeat(void);

/* Called by every process: change the solver as a run directory needs it; say what to
 * measure. */
fire_status_t run_flags_adopt(Caffe__SolverParameter *param);
void          run_flags_measure(fire_trainer_options_t *options);
/* The run directory as --run_dir names it, made if it is missing. */
fire_status_t run_flags_make_dir(void);

/* What a training alone may write to, from before it writes until its end. */
typedef struct run_locks {
    fire_job_lock_t prefix, dir;
} run_locks_t;

/* Called by rank 0: fails if another training writes there. */
fire_status_t run_flags_lock(const Caffe__SolverParameter *param, run_locks_t *locks);
void          run_flags_unlock(run_locks_t *locks);

/* Called by rank 0: before the trainer is created, and when it is ready. *log_p is not
 * changed if no flag asks for a log. */
fire_status_t run_flags_prepare(const Caffe__SolverParameter *param, bool goes_on);
/* The file by which the user changes settings, NULL without a run directory; for the
 * caller to free. */
fire_status_t run_flags_control(char **path_p);
fire_status_t run_flags_open(const fire_trainer_t *trainer, bool goes_on,
                             fire_runlog_t **log_p);
#endif
