/* run.h - the flags that say what a training leaves behind besides weights. */
#ifndef FIRE_TOOLS_FLAGS_RUN_H
#define FIRE_TOOLS_FLAGS_RUN_H
#include "base/text/options.h"
#include "train/log.h"

typedef struct run_flags {
    const char *run_dir, *trace, *tensorboard, *repeat;
    int64_t     trace_iterations;
} run_flags_t;

extern run_flags_t         run_flags;
extern const fire_option_t run_options[];

/* --repeat RUN_DIR: start the program again with the flags and in the directory of that
 * run, but with the solver and net kept in RUN_DIR and a new run directory. Returns
 * only if there is no --repeat, or if it fails. */
fire_status_t run_flags_repeat(void);

/* Every process: the solver as it is for a run directory, what to measure. */
fire_status_t run_flags_adopt(Caffe__SolverParameter *param);
void          run_flags_measure(fire_trainer_options_t *options);
/* The first worker: before the trainer, and when it is ready; *log_p stays as it is if
 * nothing is wanted. */
fire_status_t run_flags_prepare(const Caffe__SolverParameter *param, bool goes_on);
fire_status_t run_flags_open(const fire_trainer_t *trainer, bool goes_on,
                             fire_runlog_t **log_p);
#endif
