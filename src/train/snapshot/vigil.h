/* vigil.h - other workers are answered while this one is busy with files. */
#ifndef FIRE_TRAIN_SNAPSHOT_VIGIL_H
#define FIRE_TRAIN_SNAPSHOT_VIGIL_H
#include <pthread.h>
#include "base/log.h"
#include "train/trainer_state.h"

/* Have fire_trainer_beat() called by a thread, from begin() to end(), while no collective
 * is under way. With one worker it does nothing. */
typedef struct fire_vigil {
    fire_trainer_t    *trainer;
    fire_log_context_t context;
    pthread_t          thread;
    pthread_mutex_t    lock;
    pthread_cond_t     end;
    fire_status_t      last; /* of the last beat */
    bool               running, over;
} fire_vigil_t;

void fire_vigil_begin(fire_trainer_t *trainer, fire_vigil_t *v);
void fire_vigil_end(fire_vigil_t *v);
#endif
