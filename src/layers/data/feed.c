/* feed.c - data layers with prefetching: setup, load function, kernels `host` and
 * `ref`. */
#include "layers/data/feed.h"

#include "base/host/memory.h"

/* Tops for n images of this extent. */
static fire_status_t reshape_tops(fire_layer_t *l, int64_t n, fire_extent_t e)
{
    FIRE_TRY(
        fire_blob_reshape(l->top[0], 4, (int64_t[]){n, e.channels, e.height, e.width}));
    return l->ntop > 1 ? fire_blob_reshape(l->top[1], 1, &n) : FIRE_OK;
}

fire_status_t fire_feed_reshape(fire_layer_t *l)
{
    const fire_prefetch_options_t *o = &FIRE_STATE(l, fire_feed_t)->options;

    return reshape_tops(l, fire_moment_slice(l->moment, o->batch_size).n, o->extent);
}

/* Fail now if a batch cannot fit in memory. The memory itself is allocated later, after
 * that of all layers, which can take minutes. */
static fire_status_t check_memory(const fire_layer_t *l)
{
    const fire_prefetch_options_t *o = &FIRE_STATE(l, fire_feed_t)->options;
    fire_extent_t                  e = o->extent;
    double n      = (double)fire_moment_slice(l->moment, o->batch_size).n;
    double needed = n * e.channels * e.height * e.width * sizeof(float);
    double memory = (double)fire_memory_size();

    if (needed <= memory) return FIRE_OK;
    return FIRE_FAIL(FIRE_ERR_NOMEM,
                     "out of memory: a batch of %.0f images of %d x %d x %d takes %.0f "
                     "MiB, this machine has %.0f: use a smaller batch_size",
                     n, e.channels, e.height, e.width, needed / (1 << 20),
                     memory / (1 << 20));
}

fire_status_t fire_feed_setup(fire_layer_t *l)
{
    fire_feed_t             *f = FIRE_STATE(l, fire_feed_t);
    fire_prefetch_options_t *o = &f->options;

    o->threads = l->ctx->threads;
    /* Caffe seeds its data thread with this number */
    if (l->ctx->mt != NULL) fire_mt_u32(l->ctx->mt);
    FIRE_LOG(INFO, "output data size: %lld,%d,%d,%d", (long long)o->batch_size,
             o->extent.channels, o->extent.height, o->extent.width);
    return check_memory(l);
}

fire_status_t fire_feed_start(fire_layer_t *l, fire_stream_t *stream)
{
    fire_feed_t *f = FIRE_STATE(l, fire_feed_t);

    if (f->prefetch != NULL) return FIRE_OK;
    /* an image alone may have any size */
    f->options.stream = f->options.batch_size > 1 ? stream : NULL;
    return fire_prefetch_create(&f->options, &f->prefetch);
}

void fire_feed_stop(fire_layer_t *l)
{
    fire_feed_t *f = FIRE_STATE(l, fire_feed_t);

    fire_prefetch_destroy(f->prefetch);
    f->prefetch = NULL;
    f->last     = NULL;
}

void fire_feed_teardown(fire_layer_t *l)
{
    fire_feed_stop(l);
}

/* ---- load functions ---- */

void fire_feed_inspect(fire_feed_t *f, const fire_pixels_t *first)
{
    f->has_bytes   = first->bytes != NULL;
    f->interleaved = first->step_x != 1;
}

fire_status_t fire_feed_put(const fire_feed_t *f, fire_batch_t *batch, int64_t row,
                            const fire_pixels_t *image, fire_extent_t extent,
                            int64_t sample)
{
    uint64_t seed = batch->moment.seed;
    float   *out;

    FIRE_TRY(fire_batch_row(batch, row, extent, &out));
    if (batch->packed == NULL) {
        fire_transform_apply(f->transform, image, seed, sample, out);
        return FIRE_OK;
    }
    if (image->bytes == NULL)
        return FIRE_FAIL(
            FIRE_ERR_INVALID,
            "holds floats, but the first record holds bytes; mixed records "
            "need --kernel Data=host");
    fire_transform_pack(f->transform, image, seed, sample, f->interleaved,
                        batch->packed + row * fire_extent_count(extent));
    return FIRE_OK;
}

/* ---- kernels ---- */

fire_status_t fire_feed_next(fire_layer_t *l, const fire_batch_t **batch_p)
{
    fire_feed_t *f = FIRE_STATE(l, fire_feed_t);

    if (f->before != NULL) FIRE_TRY(f->before(l));
    FIRE_TRY(fire_prefetch_get(f->prefetch, l->moment, batch_p));
    l->waited = fire_prefetch_waited(f->prefetch);
    return FIRE_OK;
}

fire_status_t fire_feed_open(fire_layer_t *l, const fire_batch_t *batch,
                             const void **rows_p)
{
    fire_feed_t *f = FIRE_STATE(l, fire_feed_t);

    if (f->last != NULL) l->stalled += fire_gpu_upload_stall(f->last);
    f->last = batch->upload;
    return fire_gpu_upload_open(batch->upload, rows_p);
}

/* Copy values to a top. on_device: they are in the memory of the kernel's device
 * already. */
static fire_status_t fill(fire_layer_t *l, fire_blob_t *top, const void *values,
                          bool on_device)
{
    const fire_device_t *d     = fire_device_find(l->kernel->where);
    size_t               bytes = (size_t)fire_blob_count(top) * sizeof(float);
    float               *out;

    if (bytes == 0) return FIRE_OK; /* a lane without a sample of this batch */
    FIRE_OUT(l, top, FIRE_DATA, &out);
    return on_device ? d->copy(out, values, bytes) : d->from_host(out, values, bytes);
}

fire_status_t fire_feed_put_floats(fire_layer_t *l, const fire_batch_t *batch,
                                   bool labels)
{
    const void *rows;

    if (batch->upload == NULL) {
        FIRE_TRY(fill(l, l->top[0], batch->data, false));
        return labels ? fill(l, l->top[1], batch->label, false) : FIRE_OK;
    }
    FIRE_TRY(fire_feed_open(l, batch, &rows));
    FIRE_TRY(fill(l, l->top[0], rows, true));
    if (labels)
        FIRE_TRY(fill(l, l->top[1], (const char *)rows + batch->label_at, true));
    return fire_gpu_upload_close(batch->upload);
}

/* Kernels `host` and `ref`. */
static fire_status_t feed_forward(fire_layer_t *l)
{
    const fire_batch_t *batch;

    FIRE_TRY(fire_feed_next(l, &batch));
    FIRE_TRY(reshape_tops(l, batch->slice.n, batch->extent));
    return fire_feed_put_floats(l, batch, l->ntop > 1);
}

fire_status_t fire_feed_prepare(fire_layer_t *l)
{
    return fire_feed_start(l, l->kernel->where == FIRE_GPU ? l->ctx->stream : NULL);
}

/* Feeds a GPU with floats, transformed on the CPU; `cuda` transforms on the GPU. */
const fire_kernel_t fire_feed_host = {
    .name    = "host",
    .where   = FIRE_GPU,
    .prepare = fire_feed_prepare,
    .forward = feed_forward,
    .release = fire_feed_stop,
};

const fire_kernel_t fire_feed_ref = {
    .name    = "ref",
    .prepare = fire_feed_prepare,
    .forward = feed_forward,
    .release = fire_feed_stop,
};

extern const fire_kernel_t fire_feed_cuda; /* feed_cuda.c */

const fire_kernel_t *const fire_feed_kernels[] = {
    FIRE_IF_CUDA(fire_feed_cuda) &fire_feed_host, &fire_feed_ref, NULL};
