/* snapshot.h - the snapshot files of a run: finds them and checks that they are
 * complete.
 *
 * A state is <prefix>_iter_<n>.solverstate or .solverstate.h5. It names the model that
 * belongs to it and holds checksums of both: one of every byte of its own file
 * (base/seal.h), one of the model's. Caffe's states have no checksums and are accepted
 * unchecked. */
#ifndef FIRE_TRAIN_SNAPSHOT_SNAPSHOT_H
#define FIRE_TRAIN_SNAPSHOT_SNAPSHOT_H
#include "caffe.pb-c.h"
#include "base/error.h"

/* Set the checksum of the model file, SHA-256, in a state. */
fire_status_t fire_snapshot_seal(Caffe__SolverState *state, const char *model);

/* Load a state, find its model, compare the checksums. Free *state_p with
 * fire_message_free(), *model_p, which is NULL if the state names none, with
 * fire_free(). */
fire_status_t fire_snapshot_open(const char *path, Caffe__SolverState **state_p,
                                 char **model_p);

/* The state of the highest iteration that is complete and was written at or after the
 * time `since` (Unix; 0: any); *path_p is NULL if there is none. Damaged ones are
 * skipped with a warning, and so are those with weights or history that are no finite
 * numbers: training could not go on from them. */
fire_status_t fire_snapshot_find(const char *prefix, double since, char **path_p);
/* Of those of iterations below a number. */
fire_status_t fire_snapshot_find_below(const char *prefix, double since, int64_t below,
                                       char **path_p);

/* The n of PREFIX_iter_n.solverstate or .solverstate.h5; -1 for another name. */
int64_t fire_snapshot_iteration(const char *path);

/* Remove the snapshots of iterations up to `iter` but the `keep` newest of them, states
 * before their models. */
fire_status_t fire_snapshot_prune(const char *prefix, int64_t iter, int keep);

/* Remove temporary files that a killed process left behind. */
void fire_snapshot_clean(const char *prefix);

/* The present time by the clock of the file system where snapshots are written, which
 * may be another machine's. As `since`, it separates this run's snapshots from older
 * ones. */
fire_status_t fire_snapshot_now(const char *prefix, double *now_p);
#endif
