/* lock.h - one training at a time writes to a run directory or a snapshot prefix. Two
 * would replace each other's files. */
#ifndef FIRE_TRAIN_SNAPSHOT_LOCK_H
#define FIRE_TRAIN_SNAPSHOT_LOCK_H
#include "base/error.h"

typedef struct fire_job_lock {
    char *path; /* NULL: not held */
    int   fd;
} fire_job_lock_t;

/* Hold PATH.lock until release() or the end of this process, however it ends. A training
 * that was killed a moment ago is waited for. Where files cannot be made or locked
 * nothing is held, and it is no failure. */
fire_status_t fire_job_lock(const char *path, fire_job_lock_t *lock_p);
void          fire_job_unlock(fire_job_lock_t *lock);
#endif
