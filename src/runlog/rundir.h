/* rundir.h - a directory per run: its log, its snapshots, and solver and net as they
 * were, so that a run can be looked at and repeated. src/train/run_solver.h writes
 * solver and net into it. */
#ifndef FIRE_RUNLOG_RUNDIR_H
#define FIRE_RUNLOG_RUNDIR_H
#include "base/error.h"

/* Make the directory for a new run. A run.jsonl that is there already is renamed to
 * run.1.jsonl, or the first free number. */
fire_status_t fire_run_dir_clear(const char *dir);
#endif
