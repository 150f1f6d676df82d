/* store_state.h - what the files of the store share. */
#ifndef FIRE_DATA_STORE_STATE_H
#define FIRE_DATA_STORE_STATE_H
#include <pthread.h>

#include "data/store.h"

enum { STORE_OVERHEAD = 80 }; /* bytes that an allocation costs beside its contents */

typedef struct store {
    fire_source_t        base;
    fire_source_t       *file;
    fire_store_options_t opt;
    pthread_rwlock_t     lock;        /* of `record`, for threads that decode */
    uint8_t            **record;      /* [count], NULL: not here */
    uint32_t            *size;        /* [count], known to all workers */
    uint16_t            *now, *then;  /* [count] who holds it, who will */
    int64_t              epoch;       /* of `now`; -1: nothing loaded yet */
    fire_store_part_t   *send, *recv; /* [parts] of an exchange */
    int64_t             *cursor;      /* [parts] */
    uint8_t             *bytes;       /* what travels */
    int64_t              bytes_cap;
    fire_buffer_t        spare; /* for records that a failed exchange has lost */
} store_t;

/* Read the records that are this worker's `now`, several at a time. */
fire_status_t fire_store_load(store_t *s);
/* Give away what is another's `then`, take what is this worker's. */
fire_status_t fire_store_exchange(store_t *s);
#endif
