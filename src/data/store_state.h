/* store_state.h - the store's struct, shared by store.c and store_fill.c. */
#ifndef FIRE_DATA_STORE_STATE_H
#define FIRE_DATA_STORE_STATE_H
#include <pthread.h>

#include "data/store.h"

enum { STORE_OVERHEAD = 80 }; /* bytes of bookkeeping per allocated record */

typedef struct store {
    fire_source_t        base;
    fire_source_t       *file; /* the records on disk; owned */
    fire_store_options_t opt;
    pthread_rwlock_t     lock;   /* guards `record` against decode threads */
    uint8_t            **record; /* [count] copies; NULL: not in this worker's memory */
    uint32_t            *size;   /* [count] bytes; all workers know all of them */
    uint16_t            *now, *then;  /* [count] owner now; owner in the next epoch */
    int64_t              epoch;       /* epoch of `now`; -1: nothing is loaded yet */
    fire_store_part_t   *send, *recv; /* [parts] of the exchange in progress */
    int64_t             *cursor;      /* [parts] offsets into `bytes` */
    uint8_t             *bytes;       /* send parts, then receive parts */
    int64_t              bytes_cap;
    fire_buffer_t        spare; /* to read records that a failed exchange lost */
} store_t;

/* Read from the file the records with now[i] == part, with several threads. */
fire_status_t fire_store_load(store_t *s);
/* Send records with another owner in `then`, receive those that become ours. */
fire_status_t fire_store_exchange(store_t *s);
#endif
