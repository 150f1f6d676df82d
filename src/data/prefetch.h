/* prefetch.h - threads that load batches before the training loop asks for them.
 *
 * How a record becomes a row of a batch:
 *
 *   sample number --(order.h)-----> record number     which record is next
 *   record number --(source/)-----> bytes             read from LMDB or LevelDB
 *   bytes --------(datum.h)-------> Datum             parse the protobuf message
 *   Datum --------(decode.h)------> pixels            decompress JPEG or PNG
 *   pixels -------(transform/)----> floats            crop, mirror, mean, scale
 *   floats -------(this file)-----> row of a batch    one of a ring of batches
 *
 * The middle four steps are one function, fire_load_row_t, which the data layer
 * provides (src/layers/data). Decode threads call it for all rows of the next batches,
 * in the order in which this worker will need them: fire_moment_next() gives the moment
 * after each one. If the layer asks for another moment (after a resume, or when a test
 * pass starts over), the ring is emptied and filled from there. A wrong guess costs
 * time, never correctness.
 *
 * One thread calls fire_prefetch_get(). Nothing is allocated once every batch of the
 * ring was filled. */
#ifndef FIRE_DATA_PREFETCH_H
#define FIRE_DATA_PREFETCH_H
#include "base/random/moment.h"
#include "data/decode.h"
#include "device/gpu.h"

/* The images and labels that one lane trains on in one step. */
typedef struct fire_batch {
    fire_moment_t moment;     /* step, lane and seed that it is for */
    fire_slice_t  slice;      /* the n sample numbers of its rows */
    fire_extent_t extent;     /* channels, height, width of each row */
    bool          any_extent; /* batch_size is 1: each image may have another size */
    float        *data;       /* (n, channels, height, width) */
    float        *label;      /* (n, label_width) */
    float        *extra;      /* (n, extra_width), behind the labels */
    uint8_t      *packed;     /* (n, ...) bytes instead of data: see transform.h */
    int64_t       data_cap, label_cap;

    fire_gpu_upload_t *upload;   /* page-locked; holds rows and labels; or NULL */
    size_t             label_at; /* byte offset of the labels in `upload` */
} fire_batch_t;

/* Load row `row` of a batch: sample slice.first + row * slice.stride. Decode threads
 * call it concurrently, for different rows, each with its own scratch memory. `arg` is
 * the one of fire_prefetch_options_t and must not change meanwhile. */
typedef fire_status_t (*fire_load_row_t)(void *arg, fire_workspace_t *scratch,
                                         fire_batch_t *batch, int64_t row);

/* Called once for each batch when all of its rows are loaded, before it is copied to a
 * GPU. */
typedef void (*fire_complete_t)(void *arg, fire_batch_t *batch);

typedef struct fire_prefetch_options {
    fire_load_row_t load;
    fire_complete_t complete; /* NULL: nothing to do */
    void           *arg;
    int64_t         batch_size;  /* as in the prototxt: see fire_moment_slice() */
    fire_extent_t   extent;      /* channels, height, width of a row */
    int64_t         label_width; /* floats of a row's label; 0 means 1 */
    int64_t         extra_width; /* further floats of a row, for the layer's own use */
    int64_t         depth;       /* batches to load ahead, 1 ... 1000 */
    int             threads;     /* decode threads; 0: one per core, at most 8 */
    fire_stream_t  *stream;      /* copies full batches to its GPU; NULL: none */
    bool            packed;      /* rows are bytes, not floats; needs a stream */
} fire_prefetch_options_t;

typedef struct fire_prefetch fire_prefetch_t;

/* Copies *options. Threads start with the first fire_prefetch_get(). */
fire_status_t fire_prefetch_create(const fire_prefetch_options_t *options,
                                   fire_prefetch_t              **prefetch_p);
void          fire_prefetch_destroy(fire_prefetch_t *p); /* NULL is allowed */

/* Wait for the batch of this moment. It belongs to the ring and is valid until the next
 * call. If a row failed to load, return the error of the first such row. */
fire_status_t fire_prefetch_get(fire_prefetch_t *p, const fire_moment_t *moment,
                                const fire_batch_t **batch_p);

/* Seconds that fire_prefetch_get() has waited, summed since creation. */
double fire_prefetch_waited(const fire_prefetch_t *p);

/* For load functions: set *data_p to the floats of row `row`. Fails if `extent` differs
 * from the other rows' and batch_size is above 1. */
fire_status_t fire_batch_row(fire_batch_t *batch, int64_t row, fire_extent_t extent,
                             float **data_p);
#endif
