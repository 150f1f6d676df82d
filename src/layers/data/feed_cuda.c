/* feed_cuda.c - the kernel `cuda` of data layers: cropped images are copied to the GPU
 * as bytes, a quarter of the floats; mean, scale and mirror are done there. */
#include "layers/layer_cuda.h"
#include "layers/data/feed.h"

/* The GPU transforms only images of bytes of one size, with philox numbers. */
static const char *feed_cuda_declines(const fire_layer_t *l)
{
    const fire_feed_t *f = FIRE_STATE(l, fire_feed_t);

    if (f->transform == NULL) return "the layer transforms images in its own way";
    if (!f->has_bytes) return "images are floats";
    if (f->options.batch_size == 1) return "an image alone may have any size";
    return l->ctx->mt != NULL ? "Caffe's random numbers come one after another" : NULL;
}

/* Copy the mean image or the mean_values to the GPU, once. */
static fire_status_t send_mean(fire_feed_t *f)
{
    const fire_device_t    *d = fire_device_find(FIRE_GPU);
    const fire_transform_t *t = f->transform;
    const float            *x = t->mean != NULL ? t->mean : t->value;
    size_t                  bytes;

    if (x == NULL || f->mean != NULL) return FIRE_OK;
    bytes = (size_t)(t->mean != NULL ? fire_extent_count(t->mean_extent) : t->nvalue) *
            sizeof(*x);
    FIRE_TRY(d->alloc(bytes, (void **)&f->mean));
    return d->from_host(f->mean, x, bytes);
}

/* From now on the prefetcher packs rows as bytes. */
static fire_status_t feed_cuda_prepare(fire_layer_t *l)
{
    fire_feed_t *f = FIRE_STATE(l, fire_feed_t);

    FIRE_TRY(send_mean(f));
    f->options.packed = true;
    return fire_feed_start(l, l->ctx->stream);
}

/* Transform a batch of packed rows to the tops. */
static fire_status_t put_tops(fire_layer_t *l, const fire_batch_t *batch,
                              const void *rows)
{
    const fire_feed_t *f      = FIRE_STATE(l, fire_feed_t);
    fire_packed_t      p      = {.bytes       = rows,
                                 .extent      = batch->extent,
                                 .slice       = batch->slice,
                                 .interleaved = f->interleaved,
                                 .seed        = batch->moment.seed,
                                 .mean        = f->mean};
    fire_format_t      format = fire_gpu_format(l, l->top[0]);
    void              *out;

    if (l->ntop > 1) {
        FIRE_OUT(l, l->top[1], FIRE_DATA, &p.label_out);
        p.label       = (const float *)((const char *)rows + batch->label_at);
        p.label_width = f->options.label_width > 1 ? (int)f->options.label_width : 1;
    }
    if (f->jitter.mix.alpha > 0)
        p.mix = (const fire_mix_t *)((const char *)rows + batch->label_at +
                                     (batch->extra - batch->label) *
                                         (int64_t)sizeof(float));
    FIRE_OUT_AS(l->top[0], FIRE_DATA, &format, &out);
    return fire_transform_finish(f->transform, l->ctx->stream, &p, &format, out);
}

static fire_status_t feed_cuda_forward(fire_layer_t *l)
{
    const fire_batch_t *batch;
    const void         *rows;

    FIRE_TRY(
        fire_feed_next(l, &batch)); /* all images have the same size here: no reshape */
    if (batch->slice.n == 0) return FIRE_OK; /* a lane without a sample of this batch */
    FIRE_TRY(fire_feed_open(l, batch, &rows));
    FIRE_TRY(put_tops(l, batch, rows));
    return fire_gpu_upload_close(batch->upload);
}

static void feed_cuda_release(fire_layer_t *l)
{
    fire_feed_t *f = FIRE_STATE(l, fire_feed_t);

    fire_feed_stop(l);
    f->options.packed = false;
    if (f->mean != NULL) fire_device_find(FIRE_GPU)->free(f->mean);
    f->mean = NULL;
}

const fire_kernel_t fire_feed_cuda = {
    .name     = "cuda",
    .where    = FIRE_GPU,
    .declines = feed_cuda_declines,
    .prepare  = feed_cuda_prepare,
    .forward  = feed_cuda_forward,
    .release  = feed_cuda_release,
};
