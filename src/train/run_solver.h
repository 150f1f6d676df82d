/* run_solver.h - the solver file as a run directory keeps it: its nets are part of it,
 * and its snapshots go to the directory. */
#ifndef FIRE_TRAIN_RUN_SOLVER_H
#define FIRE_TRAIN_RUN_SOLVER_H
#include "caffe.pb-c.h"
#include "base/error.h"

/* Change the solver: snapshots go to the directory, under their old names, and nets
 * that it names by file are loaded into it. Every worker does this. */
fire_status_t fire_run_dir_adopt(const char *dir, Caffe__SolverParameter *param);

/* Make the directory and write solver.prototxt and net.prototxt into it; unless the run
 * is resumed, a log that is there is renamed. Rank 0 does this, after adopt(). */
fire_status_t fire_run_dir_prepare(const char *dir, bool resumed,
                                   const Caffe__SolverParameter *param);

/* A run directory may come from anywhere. Fail if training or testing by its solver, read
 * from `path`, would run programs that it names: plug-ins, layers in Python. */
fire_status_t fire_run_dir_check_code(const char                   *path,
                                      const Caffe__SolverParameter *param);
#endif
