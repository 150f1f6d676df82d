/* rundir.h - a directory per run: its log, its snapshots, and solver and net as they
 * were, so that it can be looked at and repeated. */
#ifndef FIRE_RUNLOG_RUNDIR_H
#define FIRE_RUNLOG_RUNDIR_H
#include "caffe.pb-c.h"
#include "base/error.h"

/* Let snapshots go to the directory, under their old names, and put the nets that the
 * solver names by file into the solver itself. Every worker does this. */
fire_status_t fire_run_dir_adopt(const char *dir, Caffe__SolverParameter *param);

/* Make the directory. A log that is there already becomes run.1.jsonl, run.2.jsonl ... */
fire_status_t fire_run_dir_clear(const char *dir);

/* Make the directory and write solver.prototxt and net.prototxt into it. A log that is
 * there already is set aside unless the run goes on. The first worker does this, after
 * adopt(). */
fire_status_t fire_run_dir_prepare(const char *dir, bool goes_on,
                                   const Caffe__SolverParameter *param);
#endif
