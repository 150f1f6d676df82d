/* saver.h - writes a snapshot by a thread while training goes on. One at a time. */
#ifndef FIRE_TRAIN_SNAPSHOT_SAVER_H
#define FIRE_TRAIN_SNAPSHOT_SAVER_H
#include <pthread.h>
#include "base/log.h"
#include "train/snapshot/copy.h"

/* Begins as {0}. */
typedef struct fire_saver {
    fire_copy_t       *copy;  /* what is being written; NULL: nothing */
    double             began; /* when, by fire_clock_now() */
    fire_log_context_t context;
    pthread_t          thread;
    bool               threaded; /* false: it was written at once */
    pthread_mutex_t    lock;
    pthread_cond_t     end;
    bool               over; /* the files are there, or have failed */
    fire_status_t      status;
    double             seconds; /* that it took */
    char               error[1024];
} fire_saver_t;

/* Write the copy, which belongs to the saver from now on. Nothing may be in flight.
 * Where no thread can be started it is written before start() returns. */
void fire_saver_start(fire_saver_t *saver, fire_copy_t *copy);
/* Wait for so many seconds at most, as one thread; true if nothing is being written
 * then. */
bool fire_saver_wait(fire_saver_t *saver, double seconds);
/* Wait for the end. *copy_p, which the caller frees, is what was written; the status and
 * the last error say how that ended. */
fire_status_t fire_saver_finish(fire_saver_t *saver, fire_copy_t **copy_p);
/* Wait for the end, whatever it is; call it before a trainer is destroyed. */
void fire_saver_end(fire_saver_t *saver);
#endif
