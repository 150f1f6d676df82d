/* events.h - scalars for TensorBoard: a file of length-framed, checksummed Event
 * messages, in the directory that `tensorboard --logdir` is given. */
#ifndef FIRE_TRAIN_EVENTS_H
#define FIRE_TRAIN_EVENTS_H
#include "base/error.h"

typedef struct fire_events fire_events_t;

/* Makes the directory where it is missing, in it a file of its own for this run. */
fire_status_t fire_events_open(const char *dir, fire_events_t **events_p);
fire_status_t fire_events_close(fire_events_t *e); /* NULL is allowed */

/* One value at an iteration and a Unix time. Leaves with the next flush. */
fire_status_t fire_events_add(fire_events_t *e, const char *tag, int64_t iter,
                              double time, double value);
fire_status_t fire_events_flush(fire_events_t *e);
#endif
