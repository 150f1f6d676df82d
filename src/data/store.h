/* store.h - keeps a data set in the memory of all workers together, as
 * IBM's DIMD (distributed in-memory data) does.
 *
 * Each worker keeps the records that its own lanes read in the current epoch. At the
 * end of an epoch all workers exchange records once, so that each has what its lanes
 * read in the next one. Seed, epoch and lanes determine who holds what, so no worker
 * has to ask another.
 *
 * A record that is not in memory is read from the file, for instance when prefetching
 * reads ahead across the end of an epoch. The store changes how fast records arrive,
 * never which. */
#ifndef FIRE_DATA_STORE_H
#define FIRE_DATA_STORE_H
#include "base/random/moment.h"
#include "data/source/source.h"

/* Bytes that go to, or come from, one worker: n bytes of a buffer from offset `at`.
 * Both are multiples of 64. */
typedef struct fire_store_part {
    int64_t at, n;
} fire_store_part_t;

/* Send one part to and receive one part from each other worker, within the buffer
 * `bytes`. A collective call: all workers make it in the same order. */
typedef fire_status_t (*fire_exchange_all_t)(void *arg, uint8_t *bytes,
                                             const fire_store_part_t *send,
                                             const fire_store_part_t *recv);

typedef struct fire_store_options {
    int part, parts; /* this worker and their number */
    const int
           *lane; /* [parts + 1] worker i has lanes lane[i] ... lane[i + 1] - 1; NULL:
                        all have the same number of them */
    int64_t batch_size;           /* of the data layer's prototxt */
    bool    shuffle;              /* the data layer's own `shuffle` */
    int64_t budget;               /* bytes that may be used; 0: 90 % of free memory, */
    int     sharers;              /* divided by this number of workers on the machine */
    int     threads;              /* that read the file; 0: one per core */
    fire_exchange_all_t exchange; /* NULL is allowed if parts is 1 */
    void               *arg;      /* first argument of exchange() */
} fire_store_options_t;

/* Make a source that serves records of `file` from memory. On success it owns `file`.
 * Reads all records once for their sizes, but keeps none yet. */
fire_status_t fire_store_open(fire_source_t *file, const fire_store_options_t *options,
                              fire_source_t **store_p);

/* Have the records of this moment's epoch in memory. Called before each pass, on every
 * worker: loads records the first time, exchanges them when the epoch has changed, else
 * returns immediately. Fails if the records need more memory than the budget. */
fire_status_t fire_store_prepare(fire_source_t *store, const fire_moment_t *moment);

/* Number of records in this worker's memory; *bytes_p is their size. */
int64_t fire_store_held(const fire_source_t *store, int64_t *bytes_p);
#endif
