/* feed.c - data layers with prefetching: setup, load function, kernels `host` and
 * `ref`. */
#include "layers/data/feed.h"

#include <string.h>

#include "base/host/memory.h"

/* Tops for n images of this extent; a label of several numbers is a row of its own. */
static fire_status_t reshape_tops(fire_layer_t *l, int64_t n, fire_extent_t e)
{
    int64_t width = FIRE_STATE(l, fire_feed_t)->options.label_width;

    FIRE_TRY(
        fire_blob_reshape(l->top[0], 4, (int64_t[]){n, e.channels, e.height, e.width}));
    if (l->ntop == 1) return FIRE_OK;
    return fire_blob_reshape(l->top[1], width > 1 ? 2 : 1, (int64_t[]){n, width});
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

/* Mix the rows of a batch in pairs; rows of bytes are mixed on the GPU. */
static void mix_batch(void *arg, fire_batch_t *batch)
{
    const fire_feed_t *f   = arg;
    fire_mix_t        *mix = (fire_mix_t *)batch->extra;
    int64_t            n   = batch->slice.n;

    fire_mix_choose(&f->jitter.mix, batch->moment.seed, batch->slice, mix);
    fire_mix_rows(mix, n, f->options.label_width, batch->label);
    if (batch->packed == NULL)
        fire_mix_rows(mix, n, fire_extent_count(batch->extent), batch->data);
}

/* Prepare for mixup, if it is wanted. */
static fire_status_t setup_mix(fire_layer_t *l)
{
    fire_feed_t             *f = FIRE_STATE(l, fire_feed_t);
    fire_prefetch_options_t *o = &f->options;

    if (f->jitter.mix.alpha <= 0) return FIRE_OK;
    if (o->label_width > 1 && o->label_width != f->jitter.mix.classes)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "augment_param: mixup has %d classes, but labels have %lld "
                         "numbers",
                         f->jitter.mix.classes, (long long)o->label_width);
    if (fire_moment_slice(l->moment, o->batch_size).n < 2)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "augment_param: mixup needs at least two images in a lane; "
                         "batch_size is %lld, in %d lanes",
                         (long long)o->batch_size, l->moment->lanes);
    f->one_hot     = o->label_width <= 1;
    o->label_width = f->jitter.mix.classes;
    o->extra_width = sizeof(fire_mix_t) / sizeof(float);
    o->complete    = mix_batch;
    return FIRE_OK;
}

fire_status_t fire_feed_setup(fire_layer_t *l)
{
    fire_feed_t             *f = FIRE_STATE(l, fire_feed_t);
    fire_prefetch_options_t *o = &f->options;

    FIRE_TRY(setup_mix(l));
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

fire_status_t fire_feed_transform(fire_feed_t *f, const fire_transform_t *t,
                                  const Caffe__TransformationParameter *p,
                                  Caffe__Phase                          phase)
{
    f->transform = t;
    return fire_jitter_init(&f->jitter, t, p, phase);
}

fire_status_t fire_feed_inspect(fire_feed_t *f, uint64_t seed,
                                fire_workspace_t *scratch, fire_pixels_t *first,
                                fire_extent_t *extent_p)
{
    FIRE_TRY(fire_jitter_apply(&f->jitter, seed, 0, scratch, first));
    f->has_bytes   = first->bytes != NULL;
    f->interleaved = first->step_x != 1;
    return fire_transform_extent(f->transform, first->extent, extent_p);
}

fire_status_t fire_feed_put(const fire_feed_t *f, fire_batch_t *batch, int64_t row,
                            fire_workspace_t *scratch, fire_pixels_t *image,
                            int64_t sample)
{
    uint64_t      seed = batch->moment.seed;
    fire_extent_t extent;
    float        *out;

    FIRE_TRY(fire_jitter_apply(&f->jitter, seed, sample, scratch, image));
    FIRE_TRY(fire_transform_extent(f->transform, image->extent, &extent));
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

fire_status_t fire_feed_put_label(const fire_feed_t *f, fire_batch_t *batch,
                                  int64_t row, const float *label)
{
    int64_t width = f->options.label_width > 1 ? f->options.label_width : 1;
    float  *to    = batch->label + row * width;

    if (!f->one_hot) {
        memcpy(to, label, (size_t)width * sizeof(*to));
        return FIRE_OK;
    }
    if (!(label[0] >= 0 && label[0] < (float)width))
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "label %g is none of the %lld classes of augment_param",
                         (double)label[0], (long long)width);
    memset(to, 0, (size_t)width * sizeof(*to));
    to[(int)label[0]] = 1;
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
