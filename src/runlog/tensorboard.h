/* tensorboard.h - scalars for TensorBoard: a file of Event messages with lengths and
 * checksums, in the directory that `tensorboard --logdir` is given. */
#ifndef FIRE_RUNLOG_TENSORBOARD_H
#define FIRE_RUNLOG_TENSORBOARD_H
#include "base/error.h"

typedef struct fire_tensorboard fire_tensorboard_t;

/* Make the directory if it is missing, and in it a new file for this run:
 * events.out.tfevents.<Unix time>.<host>.<pid>. */
fire_status_t fire_tensorboard_open(const char *dir, fire_tensorboard_t **board_p);
fire_status_t fire_tensorboard_close(fire_tensorboard_t *t); /* NULL is allowed */

/* One value of curve `tag` at an iteration and a Unix time; written at the next
 * flush. */
fire_status_t fire_tensorboard_add(fire_tensorboard_t *t, const char *tag, int64_t iter,
                                   double time, double value);
fire_status_t fire_tensorboard_flush(fire_tensorboard_t *t);
#endif
