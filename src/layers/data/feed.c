#include "layers/data/feed.h"

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

fire_status_t fire_feed_setup(fire_layer_t *l)
{
    fire_feed_t             *f = FIRE_STATE(l, fire_feed_t);
    fire_prefetch_options_t *o = &f->options;

    o->threads = l->ctx->threads;
    if (l->ctx->mt != NULL) fire_mt_u32(l->ctx->mt); /* the seed of Caffe's thread */
    FIRE_LOG(INFO, "output data size: %lld,%d,%d,%d", (long long)o->batch_size,
             o->extent.channels, o->extent.height, o->extent.width);
    return fire_prefetch_create(o, &f->prefetch);
}

void fire_feed_teardown(fire_layer_t *l)
{
    fire_prefetch_destroy(FIRE_STATE(l, fire_feed_t)->prefetch);
}

/* Batches lie in host memory; a GPU takes them from there without another copy. */
static fire_status_t fill(fire_layer_t *l, fire_blob_t *top, const float *values)
{
    fire_place_t where = l->kernel->where;
    float       *out;

    if (fire_blob_count(top) == 0) return FIRE_OK; /* a lane without a share */
    FIRE_OUT(l, top, FIRE_DATA, &out);
    return fire_device_find(where)->from_host(
        out, values, (size_t)fire_blob_count(top) * sizeof(*out));
}

static fire_status_t feed_forward(fire_layer_t *l)
{
    fire_feed_t        *f = FIRE_STATE(l, fire_feed_t);
    const fire_batch_t *batch;

    if (f->before != NULL) FIRE_TRY(f->before(l));
    FIRE_TRY(fire_prefetch_get(f->prefetch, l->moment, &batch));
    l->waited = fire_prefetch_waited(f->prefetch);
    FIRE_TRY(reshape_tops(l, batch->slice.n, batch->extent));
    FIRE_TRY(fill(l, l->top[0], batch->data));
    return l->ntop > 1 ? fill(l, l->top[1], batch->label) : FIRE_OK;
}

const fire_kernel_t fire_feed_kernels[] = {
    {.name = "cuda", .where = FIRE_GPU, .forward = feed_forward},
    {.name = "ref", .forward = feed_forward},
    {0},
};
