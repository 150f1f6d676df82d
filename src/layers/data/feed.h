/* feed.h - what data layers with prefetching share (Data, ImageData, AnnotatedData,
 * WindowData): tops (N, C, H, W) and (N) labels, filled from prefetched batches.
 *
 * On a GPU, a batch is copied there while the GPU computes on the one before. Images of
 * bytes are copied as bytes, cropped, and transformed on the GPU. */
#ifndef FIRE_LAYERS_DATA_FEED_H
#define FIRE_LAYERS_DATA_FEED_H
#include "data/jitter/jitter.h"
#include "data/prefetch.h"
#include "data/transform/transform.h"
#include "layers/layer.h"

FIRE_BEGIN_C
enum {
    FIRE_FEED_DEPTH = 4
}; /* batches to load ahead in layers without a setting for it */

/* The state of such a layer begins with this. */
typedef struct fire_feed {
    fire_prefetch_options_t options; /* filled by the layer's setup; its arg is this */
    fire_prefetch_t        *prefetch;
    fire_status_t (*before)(fire_layer_t *l); /* (optional) called first in each pass */

    /* used by fire_feed_put(); NULL: the layer transforms itself */
    const fire_transform_t *transform;
    bool                    one_hot; /* mixup makes a vector of each label */
    fire_jitter_t jitter; /* what happens to images before; see fire_feed_transform() */
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

/* Transform images by t and by the augmentation of transform_param p (NULL: none); both
 * must outlive f. Call before fire_feed_inspect(). */
fire_status_t fire_feed_transform(fire_feed_t *f, const fire_transform_t *t,
                                  const Caffe__TransformationParameter *p,
                                  Caffe__Phase                          phase);
/* Remember the format of the images, the first one's, and set *extent_p to the extent
 * of all rows. *first may be changed. */
fire_status_t fire_feed_inspect(fire_feed_t *f, uint64_t seed,
                                fire_workspace_t *scratch, fire_pixels_t *first,
                                fire_extent_t *extent_p);
/* For load functions: augment an image and transform it to row `row` of the batch. Its
 * pixels, in scratch, are changed. */
fire_status_t fire_feed_put(const fire_feed_t *f, fire_batch_t *batch, int64_t row,
                            fire_workspace_t *scratch, fire_pixels_t *image,
                            int64_t sample);
/* The same for its label, of as many numbers as options.label_width says. With mixup it
 * is one number, which becomes as many as there are classes. */
fire_status_t fire_feed_put_label(const fire_feed_t *f, fire_batch_t *batch,
                                  int64_t row, const float *label);

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
