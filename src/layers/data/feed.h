/* feed.h - what layers that read images ahead have in common: tops data (and label)
 * filled from prefetched batches. On a GPU batches arrive while it works on the one
 * before; images of bytes travel as such and are transformed over there. */
#ifndef FIRE_LAYERS_DATA_FEED_H
#define FIRE_LAYERS_DATA_FEED_H
#include "data/prefetch.h"
#include "data/transform/transform.h"
#include "layers/layer.h"

FIRE_BEGIN_C
enum { FIRE_FEED_DEPTH = 4 }; /* batches ahead, where no setting says */

/* At the head of such a layer's state. */
typedef struct fire_feed {
    fire_prefetch_options_t options; /* set by the layer's setup */
    fire_prefetch_t        *prefetch;
    fire_status_t (*before)(fire_layer_t *l); /* (optional) at the head of a pass */

    const fire_transform_t *transform; /* of rows put by fire_feed_put(), or NULL */
    bool                    has_bytes, interleaved; /* the first image */
    float                  *mean;                   /* on the GPU, or NULL */
    fire_gpu_upload_t      *last;                   /* that was opened */
} fire_feed_t;

/* End of setup: logs the size of the tops. */
fire_status_t fire_feed_setup(fire_layer_t *l);
/* Before the layer frees what its load function uses. */
void fire_feed_teardown(fire_layer_t *l);

/* Of what kind images are, as the first one shows. */
void fire_feed_note(fire_feed_t *f, const fire_pixels_t *first);
/* For load functions: an image, which becomes one of `extent`, as a row of the batch. */
fire_status_t fire_feed_put(const fire_feed_t *f, fire_batch_t *batch, int64_t row,
                            const fire_pixels_t *image, fire_extent_t extent,
                            int64_t sample);

fire_status_t                     fire_feed_reshape(fire_layer_t *l);
extern const fire_kernel_t *const fire_feed_kernels[];

/* ---- for kernels ---- */

/* Create the prefetcher, unless it is there; it sends batches to the stream's GPU. */
fire_status_t fire_feed_start(fire_layer_t *l, fire_stream_t *stream);
void          fire_feed_stop(fire_layer_t *l);
fire_status_t fire_feed_prepare(fire_layer_t *l); /* start(), on the kernel's place */
/* The batch of this moment. */
fire_status_t fire_feed_next(fire_layer_t *l, const fire_batch_t **batch_p);
/* Rows of floats become the first top, labels, if wanted, the second. */
fire_status_t fire_feed_put_floats(fire_layer_t *l, const fire_batch_t *batch,
                                   bool labels);
/* Rows on the GPU; whoever opens the upload closes it. */
fire_status_t fire_feed_open(fire_layer_t *l, const fire_batch_t *batch,
                             const void **rows_p);
FIRE_END_C
#endif
