/* prefetch.h - batches made ahead of time. Decode threads fill a ring of batches in
 * the order in which this worker will ask for them, which a moment tells
 * (fire_moment_next). Asked for anything else (a resume, a test that starts over),
 * the ring is emptied and begins there: the guess costs time, never correctness.
 *
 * One thread asks. Nothing is allocated once every batch of the ring was filled. */
#ifndef FIRE_DATA_PREFETCH_H
#define FIRE_DATA_PREFETCH_H
#include "base/random/moment.h"
#include "data/decode.h"
#include "device/gpu.h"

/* Images and labels of one lane at one step; rows one after another. */
typedef struct fire_batch {
    fire_moment_t moment;
    fire_slice_t  slice;      /* its samples */
    fire_extent_t extent;     /* of each row */
    bool          any_extent; /* batch_size is 1: the extent may follow the record */
    float        *data, *label;
    uint8_t      *packed; /* rows of bytes instead of data: see transform.h */
    int64_t       data_cap, label_cap;

    fire_gpu_upload_t *upload; /* that holds rows and then labels, or NULL */
    size_t             label_at;
} fire_batch_t;

/* Make row `row` of a batch, from sample slice.first + row * slice.stride. Several
 * threads call it at once, for different rows and each with its own scratch. */
typedef fire_status_t (*fire_load_row_t)(void *arg, fire_workspace_t *scratch,
                                         fire_batch_t *batch, int64_t row);

typedef struct fire_prefetch_options {
    fire_load_row_t load;
    void           *arg;
    int64_t         batch_size;  /* as in the prototxt: see fire_moment_slice() */
    fire_extent_t   extent;      /* of the rows */
    int64_t         label_width; /* numbers per label; 0 counts as 1 */
    int64_t         depth;       /* batches ahead */
    int             threads;     /* 0: as many as are useful on this machine */
    fire_stream_t  *stream;      /* send full batches to its GPU; NULL: do not */
    bool            packed;      /* rows are bytes; only with a stream */
} fire_prefetch_options_t;

typedef struct fire_prefetch fire_prefetch_t;

/* Threads start with the first request. */
fire_status_t fire_prefetch_create(const fire_prefetch_options_t *options,
                                   fire_prefetch_t              **prefetch_p);
void          fire_prefetch_destroy(fire_prefetch_t *p); /* NULL is allowed */

/* The batch of this moment, valid until the next call. If a row could not be made,
 * the error of the first such row. */
fire_status_t fire_prefetch_get(fire_prefetch_t *p, const fire_moment_t *moment,
                                const fire_batch_t **batch_p);

/* Seconds that get() has waited for data since the start. */
double fire_prefetch_waited(const fire_prefetch_t *p);

/* For load functions: room for one row of this extent, which must be the batch's
 * unless batch_size is 1. */
fire_status_t fire_batch_row(fire_batch_t *batch, int64_t row, fire_extent_t extent,
                             float **data_p);
#endif
