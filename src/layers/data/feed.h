/* feed.h - what data layers with prefetching share (Data, ImageData, AnnotatedData,
 * WindowData): tops (N, C, H, W) and (N) labels, filled from prefetched batches.
 *
 * On a GPU, a batch is copied there while the GPU computes on the one before. Images of
 * bytes are copied as bytes, cropped, and transformed on the GPU. */
#ifndef FIRE_LAYERS_DATA_FEED_H
#define FIRE_LAYERS_DATA_FEED_H
#include "data/prefetch.h"
#include "data/transform/transform.h"
#include "layers/layer.h"

FIRE_BEGIN_C
enum {
    FIRE_FEED_DEPTH = 4
}; /* batches to load ahead in layers without a setting for it */

/* The state of such a layer begins with this. */
typedef struct fire_feed {
    fire_prefetch_options_t options; /* filled by the layer's setup */
    fire_prefetch_t        *prefetch;
    fire_status_t (*before)(fire_layer_t *l); /* (optional) called first in each pass */

    /* used by fire_feed_put(); NULL: the layer transforms itself */
    const fire_transform_t *transform;
    /* of the first image: bytes, not floats; (H, W, C), not planes */
    bool               has_bytes, interleaved;
    float             *mean; /* copy of the mean on the GPU, or NULL */
    fire_gpu_upload_t *last; /* the upload opened last */
} fire_feed_t;

/* Call at the end of setup: logs the size of the tops and checks the memory for a
 * batch. */
fire_status_t fire_feed_setup(fire_layer_t *l);
/* Stop the threads; call before the layer frees what its load function uses. */
void fire_feed_teardown(fire_layer_t *l);

/* Remember the format of the images: the first one's. */
void fire_feed_inspect(fire_feed_t *f, const fire_pixels_t *first);
/* For load functions: transform an image to row `row` of the batch; `extent` is its
 * extent after transformation (fire_transform_extent). */
fire_status_t fire_feed_put(const fire_feed_t *f, fire_batch_t *batch, int64_t row,
                            const fire_pixels_t *image, fire_extent_t extent,
                            int64_t sample);

/* Shape the tops for this lane's slice of the batch. */
fire_status_t                     fire_feed_reshape(fire_layer_t *l);
extern const fire_kernel_t *const fire_feed_kernels[];

/* ---- for kernels ---- */

/* Create the prefetcher unless it exists; batches are copied to the stream's GPU (NULL:
 * not). */
fire_status_t fire_feed_start(fire_layer_t *l, fire_stream_t *stream);
void          fire_feed_stop(fire_layer_t *l);
fire_status_t fire_feed_prepare(fire_layer_t *l); /* start() for the kernel's place */
/* Wait for the batch of this moment. */
fire_status_t fire_feed_next(fire_layer_t *l, const fire_batch_t **batch_p);
/* Copy a batch of floats to top 0, and its labels to top 1 if wanted. */
fire_status_t fire_feed_put_floats(fire_layer_t *l, const fire_batch_t *batch,
                                   bool labels);
/* Set *rows_p to the batch's rows in GPU memory. Close the upload when the GPU's work
 * that reads them is queued. */
fire_status_t fire_feed_open(fire_layer_t *l, const fire_batch_t *batch,
                             const void **rows_p);
FIRE_END_C
#endif
