/* depthwise_simd.c - depthwise convolution of 3x3 windows on blocked channels: the work
 * of all threads, forward and backward.
 *
 * A thread gets a contiguous run of maps, ordered (block, image): the same channels of
 * all images, as neighbouring layers share their work, so that it finds its inputs in
 * its own cache. Gradients of the weights are summed per map, then over images in
 * order: bits do not depend on the number of threads. */
#include "device/cpu/parallel.h"
#include "layers/activation/relu.h"
#include "layers/conv/conv.h"
#include "layers/conv/depthwise/depthwise_simd.h"

static const char *depthwise_simd_declines(const fire_layer_t *l)
{
    const fire_conv_t   *c = FIRE_STATE(l, fire_conv_t);
    const fire_window_t *w = &c->window;

    if (c->image.channels != c->group || c->map.channels != c->group || c->group == 1)
        return "needs one channel per group";
    if (w->axes != 2 || c->axis != 1) return "needs two spatial axes";
    for (int i = 0; i < 2; i++)
        if (w->kernel[i] != FIRE_DW_TAPS || w->dilation[i] != 1 ||
            w->pad[i] >= FIRE_DW_TAPS || w->stride[i] != w->stride[0] ||
            w->stride[i] > 2)
            return "needs 3x3 windows with stride 1 or 2";
    return c->images == 0 ? "the input is empty" : NULL;
}

static fire_status_t depthwise_simd_prepare(fire_layer_t *l)
{
    (void)l;
    return FIRE_OK;
}

static void depthwise_simd_release(fire_layer_t *l)
{
    (void)l;
}

static bool depthwise_simd_absorbs(const fire_layer_t *l, const fire_layer_t *next)
{
    return fire_conv_absorbs(l, next);
}

static unsigned depthwise_simd_backward_reads(const fire_layer_t *l)
{
    return fire_conv_relu_backward_reads(l);
}

/* Channels of block k. */
static int64_t channels_of(const fire_blocked_t *b, int64_t k)
{
    return fire_piece(b->channels, k * b->block, b->block);
}

/* The layer's weights (channel, tap) and bias of one block, as (tap, lane). */
static void pack_weights(const fire_depthwise_job_t *j, int64_t block, float *to)
{
    const fire_blocked_t *b = j->in;

    memset(to, 0, (size_t)(b->block * FIRE_DW_SUMS) * sizeof(*to));
    for (int64_t c = 0; c < channels_of(b, block); c++) {
        int64_t channel = block * b->block + c;

        for (int64_t i = 0; i < FIRE_DW_WINDOW; i++)
            to[i * b->block + c] = j->weights[channel * FIRE_DW_WINDOW + i];
        if (j->bias != NULL) to[FIRE_DW_WINDOW * b->block + c] = j->bias[channel];
    }
}

/* Sums (tap, lane) of one image, in slot `place` of `blocks`; NULL in forward. */
static float *sums_at(const fire_depthwise_job_t *j, int64_t place, int64_t image)
{
    int64_t panel = j->in->block * FIRE_DW_SUMS;

    return j->sums == NULL ? NULL : j->sums + (place * j->in->num + image) * panel;
}

/* Add up the images' sums in order, whichever thread made them, into those of the first
 * image; then add these to dw and db. */
static void add_sums(const fire_depthwise_job_t *j, int64_t block, float *sums)
{
    const fire_blocked_t *b    = j->in;
    int64_t               taps = j->db != NULL ? FIRE_DW_SUMS : FIRE_DW_WINDOW;

    for (int64_t n = 1; n < b->num; n++)
        for (int64_t i = 0; i < taps * b->block; i++)
            sums[i] += sums[n * FIRE_DW_SUMS * b->block + i];
    for (int64_t c = 0; c < channels_of(b, block); c++) {
        int64_t channel = block * b->block + c;

        for (int64_t i = 0; i < FIRE_DW_WINDOW && j->dw != NULL; i++)
            j->dw[channel * FIRE_DW_WINDOW + i] += sums[i * b->block + c];
        if (j->db != NULL) j->db[channel] += sums[FIRE_DW_WINDOW * b->block + c];
    }
}

typedef void map_kernel_t(const fire_depthwise_job_t *j, const fire_depthwise_map_t *m);

/* Maps begin ... end - 1 of the order (block, image). Blocks whose images are all in
 * this run reuse one slot for their sums, one block after another, which keeps it
 * cached. */
static void run_maps(const fire_depthwise_job_t *j, map_kernel_t *kernel, int64_t begin,
                     int64_t end, float *buffer)
{
    int64_t num = j->in->num, blocks = j->in->blocks;
    float   weights[FIRE_DW_SUMS * FIRE_LANES];

    for (int64_t i = begin; i < end; i++) {
        int64_t block = i / num, image = i % num, next = i + 1 < end ? i + 1 : i;
        bool    whole          = block * num >= begin && (block + 1) * num <= end;
        int64_t place          = whole ? (begin + num - 1) / num : block;
        fire_depthwise_map_t m = {.k       = image * blocks + block,
                                  .next    = next % num * blocks + next / num,
                                  .weights = weights,
                                  .sums    = sums_at(j, place, image),
                                  .buffer  = buffer};

        if (i == begin || image == 0) pack_weights(j, block, weights);
        kernel(j, &m);
        if (j->sums != NULL && whole && image == num - 1)
            add_sums(j, block, sums_at(j, place, 0));
    }
}

/* Finish the blocks whose images were split between threads. */
static void add_shared(const fire_depthwise_job_t *j, int64_t threads)
{
    int64_t num = j->in->num, n = num * j->in->blocks;

    for (int64_t i = 1, last = -1; i < threads; i++) {
        int64_t cut = n * i / threads, block = cut / num;

        if (cut % num == 0 || block == last) continue;
        add_sums(j, block, sums_at(j, block, 0));
        last = block;
    }
}

/* buffers: three rows for each thread */
static void run_blocks(const fire_depthwise_job_t *j, map_kernel_t *kernel,
                       float *buffers)
{
    int64_t threads = fire_threads(), num = j->in->num, n = num * j->in->blocks;

    FIRE_PARALLEL(i, threads, true)
    run_maps(j, kernel, n * i / threads, n * (i + 1) / threads,
             buffers + i * FIRE_DW_TAPS * j->wide);
    if (j->sums != NULL) add_shared(j, threads);
}

/* Fill in what both passes need from the layer. part: the format of x follows it */
static fire_status_t describe(fire_layer_t *l, fire_part_t part, fire_format_t *in,
                              fire_format_t *out, fire_depthwise_job_t *j)
{
    const fire_conv_t *c = FIRE_STATE(l, fire_conv_t);

    FIRE_TRY(fire_blob_blocked(l->bottom[0], part, in));
    FIRE_TRY(fire_blob_format_like(l->top[0], in, out));
    *j = (fire_depthwise_job_t){.in     = fire_blocked_of(in),
                                .out    = fire_blocked_of(out),
                                .stride = c->window.stride[0],
                                .slope  = fire_relu_follower_slope(l)};
    for (int i = 0; i < 2; i++) {
        j->in_dim[i]  = c->image.dim[i];
        j->out_dim[i] = c->map.dim[i];
        j->pad[i]     = c->window.pad[i];
    }
    j->wide =
        (j->in_dim[1] > j->out_dim[1] ? j->in_dim[1] : j->out_dim[1]) * j->in->block;
    return FIRE_OK;
}

/* Take scratch memory (sums of all images, a row of zeros, the threads' buffers) and
 * run all maps. */
static fire_status_t run(fire_layer_t *l, fire_depthwise_job_t *j, map_kernel_t *kernel,
                         bool backward)
{
    fire_format_t plain = FIRE_FORMAT_PLAIN(FIRE_CPU);
    int64_t       sums =
        backward ? j->in->num * j->in->blocks * j->in->block * FIRE_DW_SUMS : 0;
    int64_t rows = (1 + fire_threads() * FIRE_DW_TAPS) * j->wide;
    float  *scratch, *zeros;

    FIRE_TRY(fire_conv_weights(l, &plain, (const void **)&j->weights, &j->bias));
    FIRE_TRY(fire_pool_take(l->ctx->pool, (size_t)(sums + rows) * sizeof(*scratch),
                            (void **)&scratch));
    zeros    = scratch + sums;
    j->sums  = backward ? scratch : NULL;
    j->zeros = zeros;
    memset(zeros, 0, (size_t)j->wide * sizeof(*zeros));
    run_blocks(j, kernel, zeros + j->wide);
    fire_pool_give(l->ctx->pool, scratch);
    return FIRE_OK;
}

static fire_status_t depthwise_simd_forward(fire_layer_t *l)
{
    fire_format_t        in, out;
    fire_depthwise_job_t j;

    FIRE_TRY(describe(l, FIRE_DATA, &in, &out, &j));
    for (int k = 0; k < l->nbottom; k++) {
        FIRE_IN_AS(l->bottom[k], FIRE_DATA, &in, &j.x);
        FIRE_OUT_AS(l->fusion.nfollower > 0 ? fire_layer_result(l) : l->top[k],
                    FIRE_DATA, &out, &j.y);
        FIRE_TRY(run(l, &j, fire_depthwise_simd_forward_map, false));
    }
    return FIRE_OK;
}

/* With stride 2, dx is four times as large as dy, and other threads wrote its memory
 * last: an ordinary store would first fetch lines from their caches, to overwrite
 * them. */
static bool writes_past(const fire_depthwise_job_t *j)
{
    return j->stride > 1 && j->in->block == FIRE_LANES && j->dx != NULL &&
           (uintptr_t)j->dx % 64 == 0;
}

static fire_status_t depthwise_simd_backward(fire_layer_t *l)
{
    fire_format_t        in, out;
    fire_depthwise_job_t j;

    FIRE_TRY(fire_conv_relu_backward(l));
    FIRE_TRY(describe(l, FIRE_DATA, &in, &out, &j));
    if (l->param_gradient[0]) FIRE_INOUT(l, l->blob[0], FIRE_DIFF, &j.dw);
    if (l->nblob > 1 && l->param_gradient[1])
        FIRE_INOUT(l, l->blob[1], FIRE_DIFF, &j.db);
    for (int k = 0; k < l->nbottom; k++) {
        FIRE_IN_AS(l->bottom[k], FIRE_DATA, &in, &j.x);
        FIRE_IN_AS(l->top[k], FIRE_DIFF, &out, &j.dy);
        j.dx = NULL;
        if (l->propagate_down[k]) FIRE_OUT_AS(l->bottom[k], FIRE_DIFF, &in, &j.dx);
        j.past = writes_past(&j);
        FIRE_TRY(run(l, &j, fire_depthwise_simd_backward_map, true));
    }
    return FIRE_OK;
}

static const fire_fusion_ops_t depthwise_simd_fusion = {
    .absorbs        = depthwise_simd_absorbs,
    .backward_reads = depthwise_simd_backward_reads,
};

const fire_kernel_t fire_depthwise_simd = {
    .name     = "simd",
    .declines = depthwise_simd_declines,
    .prepare  = depthwise_simd_prepare,
    .forward  = depthwise_simd_forward,
    .backward = depthwise_simd_backward,
    .release  = depthwise_simd_release,
    .fusion   = &depthwise_simd_fusion,
};
