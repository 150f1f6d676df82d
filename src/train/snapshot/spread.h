/* spread.h - files of one worker's node come to the others. */
#ifndef FIRE_TRAIN_SNAPSHOT_SPREAD_H
#define FIRE_TRAIN_SNAPSHOT_SPREAD_H
#include "train/trainer_state.h"

/* Copy a state in shared memory and its model, which rank `owner` has at `path`, to the
 * same path on other nodes: `lacks` says that this worker's node has none. All workers
 * call it; afterwards each can read both. */
fire_status_t fire_spread_snapshot(fire_trainer_t *trainer, int owner, const char *path,
                                   bool lacks);
#endif
