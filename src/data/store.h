/* store.h - a data set held in the workers' memory (IBM's DIMD). Each worker keeps the
 * records that its own lanes take in the current epoch; when the epoch ends, records go
 * to the workers that take them next, in one exchange of all with all. Who holds what
 * follows from seed, epoch and lanes, so that nobody has to ask.
 *
 * A record that is not here (data is read ahead across the end of an epoch) is read
 * from the file: the store changes how fast records come, never which. */
#ifndef FIRE_DATA_STORE_H
#define FIRE_DATA_STORE_H
#include "base/random/moment.h"
#include "data/source/source.h"

/* What goes to, or comes from, one worker: n bytes of a buffer, from `at` on. Both are
 * multiples of 64. */
typedef struct fire_store_part {
    int64_t at, n;
} fire_store_part_t;

/* Send and receive one part for each worker (none for oneself), in one buffer. All
 * workers call it in the same order. */
typedef fire_status_t (*fire_exchange_all_t)(void *arg, uint8_t *bytes,
                                             const fire_store_part_t *send,
                                             const fire_store_part_t *recv);

typedef struct fire_store_options {
    int                 part, parts; /* this worker, of how many; lanes % parts is 0 */
    int64_t             batch_size;  /* of the data layer */
    bool                shuffle;     /* the layer's own wish */
    int64_t             budget;      /* bytes that may be used; 0: what is free, */
    int                 sharers;     /* divided by the workers on this machine */
    int                 threads;     /* that load; 0: one per core */
    fire_exchange_all_t exchange;    /* may be NULL if there is one part */
    void               *arg;
} fire_store_options_t;

/* A source that keeps records of `file` in memory. It owns `file` from now on, if it
 * succeeds. Nothing is loaded yet. */
fire_status_t fire_store_open(fire_source_t *file, const fire_store_options_t *options,
                              fire_source_t **store_p);

/* Before the pass of this moment, on every worker: have this epoch's records here.
 * Loads them the first time, exchanges them when the epoch is another than before. */
fire_status_t fire_store_prepare(fire_source_t *store, const fire_moment_t *moment);

/* Records and bytes held by this worker now. */
int64_t fire_store_held(const fire_source_t *store, int64_t *bytes_p);
#endif
