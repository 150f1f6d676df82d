/* snapshot.h - the files of a run: which there are, and whether they are whole.
 *
 * A state is <prefix>_iter_<n>.solverstate, or .solverstate.h5; it names the model
 * that belongs to it and holds checksums of both. Caffe's states hold none and are
 * believed. */
#ifndef FIRE_TRAIN_SNAPSHOT_SNAPSHOT_H
#define FIRE_TRAIN_SNAPSHOT_SNAPSHOT_H
#include "caffe.pb-c.h"
#include "base/error.h"

/* Note checksums: of the model file, of the numbers in the state. */
fire_status_t fire_snapshot_seal(Caffe__SolverState *state, const char *model);

/* Load a state, find its model, compare the checksums. End *state_p with
 * fire_message_free(), *model_p, which is NULL if the state names none, with
 * fire_free(). */
fire_status_t fire_snapshot_open(const char *path, Caffe__SolverState **state_p,
                                 char **model_p);

/* The state of the highest iteration that is whole and was written at or after the
 * time `since` (Unix; 0: whenever); *path_p is NULL if there is none. Damaged ones are
 * passed over with a warning. */
fire_status_t fire_snapshot_find(const char *prefix, double since, char **path_p);

/* Remove what a killed process left half-written. */
void fire_snapshot_clean(const char *prefix);

/* What time it is where snapshots are written, which may be another machine: as
 * `since` it tells those of this run from older ones. */
fire_status_t fire_snapshot_now(const char *prefix, double *now_p);
#endif
