/* tensorboard.h - scalars for TensorBoard: a file of length-framed, checksummed Event
 * messages, in the directory that `tensorboard --logdir` is given. */
#ifndef FIRE_RUNLOG_TENSORBOARD_H
#define FIRE_RUNLOG_TENSORBOARD_H
#include "base/error.h"

typedef struct fire_tensorboard fire_tensorboard_t;

/* Makes the directory where it is missing, in it a file of its own for this run. */
fire_status_t fire_tensorboard_open(const char *dir, fire_tensorboard_t **events_p);
fire_status_t fire_tensorboard_close(fire_tensorboard_t *e); /* NULL is allowed */

/* One value at an iteration and a Unix time. Leaves with the next flush. */
fire_status_t fire_tensorboard_add(fire_tensorboard_t *e, const char *tag, int64_t iter,
                                   double time, double value);
fire_status_t fire_tensorboard_flush(fire_tensorboard_t *e);
#endif
