/* conv_channels_simd.c - depthwise convolution of 3x3 windows on channels in blocks: one
 * vector holds a place of 16 channels. Backward makes both gradients in one pass, which
 * reads x and dy once and writes dx once. */
#include "device/cpu/blocked.h"
#include "device/cpu/parallel.h"
#include "device/cpu/simd.h"
#include "layers/neuron/relu.h"
#include "layers/vision/conv.h"

enum {
    TAPS   = 3, /* a side */
    WINDOW = TAPS * TAPS,
    SUMS   = WINDOW + 1, /* gradients of the taps and of the bias */
};

typedef struct job {
    const fire_blocked_t *in, *out;
    int64_t               in_dim[2], out_dim[2], stride, pad[2];
    int64_t               wide; /* elements of the longest row */
    const void           *x, *dy;
    void                 *y, *dx;  /* dx NULL: not wanted */
    bool                  past;    /* dx goes past the cache */
    float                 slope;   /* of a ReLU behind; 1: none */
    const float          *weights; /* (block, tap, lane), the bias behind the taps */
    const float          *zeros;   /* a row */
    float                *sums;    /* (image, block, tap, lane), likewise */
} job_t;

const char *fire_conv_channels_simd_declines(const fire_layer_t *l)
{
    const fire_conv_t   *c = FIRE_STATE(l, fire_conv_t);
    const fire_window_t *w = &c->window;

    if (c->image.channels != c->group || c->map.channels != c->group || c->group == 1)
        return "it is for one channel per group";
    if (w->axes != 2 || c->axis != 1) return "it is for two spatial axes";
    for (int i = 0; i < 2; i++)
        if (w->kernel[i] != TAPS || w->dilation[i] != 1 || w->pad[i] >= TAPS ||
            w->stride[i] != w->stride[0] || w->stride[i] > 2)
            return "it is for windows of 3x3 and steps of 1 or 2";
    return c->images == 0 ? "the input is empty" : NULL;
}

fire_status_t fire_conv_channels_simd_prepare(fire_layer_t *l)
{
    (void)l;
    return FIRE_OK;
}

void fire_conv_channels_simd_release(fire_layer_t *l)
{
    (void)l;
}

bool fire_conv_channels_simd_absorbs(const fire_layer_t *l, const fire_layer_t *next)
{
    return fire_conv_absorbs(l, next);
}

unsigned fire_conv_channels_simd_needs(const fire_layer_t *l)
{
    return fire_conv_relu_needs(l);
}

/* ---- rows ---- */

/* The rows of one block, to be asked for in order. Rows of float32 are used where they
 * are, of others the last three are in the buffer. */
typedef struct rows {
    const char  *base;
    int64_t      n, width;
    int64_t      next; /* the first that was not asked for yet */
    const float *zeros;
    float       *buffer;
} rows_t;

/* Place i of an array. */
FIRE_SIMD const char *place_at(fire_dtype_t t, int lanes, const void *base, int64_t i)
{
    size_t size = t == FIRE_F32 ? sizeof(float) : sizeof(uint16_t);

    return (const char *)base + i * lanes * (int64_t)size;
}

FIRE_SIMD void convert_row(fire_dtype_t t, int lanes, rows_t *r, int64_t row)
{
    int64_t n = r->width * lanes;

    for (int64_t i = 0; i < n; i += lanes)
        fire_vf_store(r->buffer + row % TAPS * n, FIRE_F32, lanes, i,
                      fire_vf_load(r->base, t, lanes, row * n + i));
}

FIRE_SIMD const float *row_at(fire_dtype_t t, int lanes, rows_t *r, int64_t row)
{
    int64_t n = r->width * lanes;

    if (row < 0 || row >= r->n) return r->zeros;
    for (; r->next <= row; r->next++)
        if (t != FIRE_F32) convert_row(t, lanes, r, r->next);
    return t == FIRE_F32 ? (const float *)r->base + row * n
                         : r->buffer + row % TAPS * n;
}

/* n places behind the rows asked for, from `first` on: they come from memory while these
 * are worked on. */
FIRE_SIMD void fetch(fire_dtype_t t, int lanes, const rows_t *r, int64_t first, int n)
{
    for (int i = 0; i < n; i++)
        __builtin_prefetch(place_at(t, lanes, r->base, r->next * r->width + first + i));
}

/* ---- forward ---- */

/* The window that begins at place `from` of three rows; whole: none of it is outside. */
FIRE_SIMD fire_vf_t forward_window(int lanes, bool whole, const float *const *row,
                                   int64_t width, int64_t from, const fire_vf_t *w)
{
    fire_vf_t sum = w[WINDOW];

#pragma GCC unroll 9
    for (int i = 0; i < WINDOW; i++) {
        int64_t place = from + i % TAPS;

        if (whole || (place >= 0 && place < width))
            sum += w[i] * fire_vf_load(row[i / TAPS], FIRE_F32, lanes, place * lanes);
    }
    return sum;
}

/* One row of y from three of x. */
FIRE_SIMD void forward_row(fire_dtype_t t, int lanes, int stride, const job_t *j,
                           const rows_t *x, const float *const *row,
                           const float *weights, int64_t at)
{
    fire_vf_t w[SUMS], sum;

    for (int i = 0; i < SUMS; i++)
        w[i] = fire_vf_load(weights, FIRE_F32, lanes, i * lanes);
    for (int64_t c = 0; c < j->out_dim[1]; c++) {
        int64_t from = c * stride - j->pad[1];

        fetch(t, lanes, x, c * stride * stride, stride * stride);
        if (from >= 0 && from + TAPS <= x->width)
            sum = forward_window(lanes, true, row, x->width, from, w);
        else
            sum = forward_window(lanes, false, row, x->width, from, w);
        if (j->slope != 1.0f) sum = fire_vf_select(sum > 0.0f, sum, sum * j->slope);
        fire_vf_store(j->y, t, lanes, at + c * lanes, sum);
    }
}

FIRE_SIMD void forward_step(fire_dtype_t t, int lanes, const job_t *j, int64_t k,
                            float *buffer)
{
    const float *weights = j->weights + k % j->in->blocks * SUMS * lanes, *row[TAPS];
    rows_t       x       = {.base   = place_at(t, lanes, j->x, k * j->in->plane),
                            .n      = j->in_dim[0],
                            .width  = j->in_dim[1],
                            .zeros  = j->zeros,
                            .buffer = buffer};

    for (int64_t r = 0; r < j->out_dim[0]; r++) {
        int64_t at = (k * j->out->plane + r * j->out_dim[1]) * lanes;

        for (int i = 0; i < TAPS; i++)
            row[i] = row_at(t, lanes, &x, r * j->stride - j->pad[0] + i);
        if (j->stride == 1)
            forward_row(t, lanes, 1, j, &x, row, weights, at);
        else
            forward_row(t, lanes, 2, j, &x, row, weights, at);
    }
}
FIRE_SIMD_KERNEL(forward_block, forward_step, j->in->dtype, j->in->block,
                 (const job_t *j, int64_t k, float *buffer), j, k, buffer)

/* ---- backward ---- */

/* What a row of x meets: some rows of the window, with the rows of dy they belong to. */
typedef struct meeting {
    const float *dy[TAPS];
    fire_vf_t w[TAPS][TAPS], sum[TAPS][TAPS]; /* (row, tap): weight and its gradient */
} meeting_t;

/* Places g * stride - pad + e of a row, e = 0 ... stride - 1, each of which meets taps e,
 * e + stride ... of outputs g, g - 1 ...: dx, and what they add to the gradients. rows: of
 * the window; at: of the row's first place; whole: none of this is outside */
FIRE_SIMD void back_group(fire_dtype_t t, int lanes, int stride, int rows, bool whole,
                          const job_t *j, int64_t g, int64_t at, meeting_t *with)
{
#pragma GCC unroll 2
    for (int e = 0; e < stride; e++) {
        int64_t   place = g * stride - j->pad[1] + e;
        fire_vf_t x, d, dx = {0};

        if (!whole && (place < 0 || place >= j->in_dim[1])) continue;
        x = fire_vf_load(j->x, t, lanes, at + place * lanes);
#pragma GCC unroll 9
        for (int i = 0; i < rows * TAPS; i++) {
            int     row = i / TAPS, tap = i % TAPS;
            int64_t output = g - tap / stride;

            if (tap % stride != e) continue;
            if (!whole && (output < 0 || output >= j->out_dim[1])) continue;
            d = fire_vf_load(with->dy[row], FIRE_F32, lanes, output * lanes);
            dx += with->w[row][tap] * d;
            with->sum[row][tap] += x * d;
        }
        if (stride > 1 && lanes == FIRE_LANES && j->past)
            fire_vf_stream(j->dx, t, at + place * lanes, dx);
        else if (j->dx != NULL)
            fire_vf_store(j->dx, t, lanes, at + place * lanes, dx);
    }
}

/* One row of x, which meets each `stride`th row of the window, `rows` of them; weights and
 * sums are from the first of them on. */
FIRE_SIMD void back_row(fire_dtype_t t, int lanes, int stride, int rows, const job_t *j,
                        int64_t at, const float *weights, meeting_t *with, float *sums)
{
    int64_t width = j->in_dim[1], pad = j->pad[1];

    for (int i = 0; i < rows * TAPS; i++) {
        int from = (i / TAPS * stride * TAPS + i % TAPS) * lanes;

        with->w[i / TAPS][i % TAPS]   = fire_vf_load(weights, FIRE_F32, lanes, from);
        with->sum[i / TAPS][i % TAPS] = fire_vf_load(sums, FIRE_F32, lanes, from);
    }
    for (int64_t g = pad / stride; g * stride - pad < width; g++)
        if (g * stride >= pad && g * stride >= TAPS - 1 &&
            (g + 1) * stride - pad <= width && g < j->out_dim[1])
            back_group(t, lanes, stride, rows, true, j, g, at, with);
        else
            back_group(t, lanes, stride, rows, false, j, g, at, with);
    for (int i = 0; i < rows * TAPS; i++)
        fire_vf_store(sums, FIRE_F32, lanes,
                      (i / TAPS * stride * TAPS + i % TAPS) * lanes,
                      with->sum[i / TAPS][i % TAPS]);
}

/* Row h of block k: its first row of the window belongs to output row `first`, each one
 * `stride` further down to the one before. */
FIRE_SIMD void meet_row(fire_dtype_t t, int lanes, const job_t *j, int64_t k, int64_t h,
                        rows_t *dy, float *sums)
{
    int64_t      first = (h + j->pad[0]) / j->stride, tap = (h + j->pad[0]) % j->stride;
    int64_t      from    = tap * TAPS * lanes;
    int64_t      at      = (k * j->in->plane + h * j->in_dim[1]) * lanes;
    const float *weights = j->weights + k % j->in->blocks * SUMS * lanes + from;
    meeting_t    with;

    for (int i = 0; tap + i * j->stride < TAPS; i++)
        with.dy[i] = row_at(t, lanes, dy, first - i);
    if (j->stride == 1)
        back_row(t, lanes, 1, 3, j, at, weights, &with, sums + from);
    else if (tap == 0)
        back_row(t, lanes, 2, 2, j, at, weights, &with, sums + from);
    else
        back_row(t, lanes, 2, 1, j, at, weights, &with, sums + from);
}

/* The gradient of the bias: in chunks, as sums of many numbers lose less so. */
FIRE_SIMD void sum_row(int lanes, int64_t n, const float *dy, float *sum_p)
{
    fire_vf_t sum = {0};

    for (int64_t i = 0; i < n * lanes; i += lanes)
        sum += fire_vf_load(dy, FIRE_F32, lanes, i);
    fire_vf_store(sum_p, FIRE_F32, lanes, 0,
                  fire_vf_load(sum_p, FIRE_F32, lanes, 0) + sum);
}

FIRE_SIMD void backward_step(fire_dtype_t t, int lanes, const job_t *j, int64_t k,
                             float *buffer)
{
    float *sums = j->sums + k * SUMS * lanes;
    rows_t dy   = {.base   = place_at(t, lanes, j->dy, k * j->out->plane),
                   .n      = j->out_dim[0],
                   .width  = j->out_dim[1],
                   .zeros  = j->zeros,
                   .buffer = buffer};

    memset(sums, 0, (size_t)(SUMS * lanes) * sizeof(*sums));
    for (int64_t h = 0, summed = 0; h < j->in_dim[0]; h++) {
        meet_row(t, lanes, j, k, h, &dy, sums);
        for (; summed < dy.next; summed++)
            sum_row(lanes, j->out_dim[1], row_at(t, lanes, &dy, summed),
                    sums + WINDOW * lanes);
    }
    if (j->past) fire_vf_fence();
}
FIRE_SIMD_KERNEL(backward_block, backward_step, j->in->dtype, j->in->block,
                 (const job_t *j, int64_t k, float *buffer), j, k, buffer)

/* ---- all blocks ---- */

/* Channels of block k. */
static int64_t channels_of(const fire_blocked_t *b, int64_t k)
{
    return fire_piece(b->channels, k * b->block, b->block);
}

/* weights: (block, tap, lane) from the layer's (channel, tap). */
static fire_status_t pack_weights(fire_layer_t *l, const fire_blocked_t *b, float *to)
{
    fire_format_t plain = FIRE_FORMAT_PLAIN(FIRE_CPU);
    const void   *from;
    const float  *weights, *bias;

    FIRE_TRY(fire_conv_weights(l, &plain, &from, &bias));
    weights = from;
    memset(to, 0, (size_t)(b->blocks * b->block * SUMS) * sizeof(*to));
    FIRE_PARALLEL(k, b->blocks, true)
    for (int64_t c = 0; c < channels_of(b, k); c++) {
        int64_t channel = k * b->block + c;
        float  *at      = to + k * b->block * SUMS + c;

        for (int64_t i = 0; i < WINDOW; i++)
            at[i * b->block] = weights[channel * WINDOW + i];
        if (bias != NULL) at[WINDOW * b->block] = bias[channel];
    }
    return FIRE_OK;
}

/* Of block k: the images' sums, added in order, whoever made them; they end up in those of
 * the first image. */
static void add_block(const fire_blocked_t *b, int64_t k, float *sums, float *dw,
                      float *db)
{
    int64_t panel = b->block * SUMS;
    float  *sum   = sums + k * panel;

    for (int64_t n = 1; n < b->num; n++)
        for (int64_t i = 0; i < panel; i++)
            sum[i] += sum[n * b->blocks * panel + i];
    for (int64_t c = 0; c < channels_of(b, k); c++) {
        int64_t channel = k * b->block + c;

        for (int64_t i = 0; i < WINDOW && dw != NULL; i++)
            dw[channel * WINDOW + i] += sum[i * b->block + c];
        if (db != NULL) db[channel] += sum[WINDOW * b->block + c];
    }
}

static fire_status_t add_sums(fire_layer_t *l, const fire_blocked_t *b, float *sums)
{
    float *dw = NULL, *db = NULL;

    if (l->param_gradient[0]) FIRE_INOUT(l, l->blob[0], FIRE_DIFF, &dw);
    if (l->nblob > 1 && l->param_gradient[1]) FIRE_INOUT(l, l->blob[1], FIRE_DIFF, &db);
    FIRE_PARALLEL(k, b->blocks, true)
    add_block(b, k, sums, dw, db);
    return FIRE_OK;
}

typedef void block_t(const job_t *j, int64_t k, float *buffer);

/* The same channels of all images in a row, as the layers around share their work: what a
 * thread finds in its cache is its own. buffers: three rows for each thread */
static void run_blocks(const job_t *j, block_t *block, float *buffers)
{
    int64_t threads = fire_threads(), num = j->in->num, blocks = j->in->blocks;
    int64_t n = num * blocks;

    FIRE_PARALLEL(i, threads, true)
    for (int64_t k = n * i / threads; k < n * (i + 1) / threads; k++)
        block(j, k % num * blocks + k / num, buffers + i * TAPS * j->wide);
}

/* What both passes know of the layer; formats are those of x. */
static fire_status_t describe(fire_layer_t *l, fire_part_t part, fire_format_t *in,
                              fire_format_t *out, job_t *j)
{
    const fire_conv_t *c = FIRE_STATE(l, fire_conv_t);

    FIRE_TRY(fire_blob_blocked(l->bottom[0], part, in));
    FIRE_TRY(fire_blob_format_like(l->top[0], in, out));
    *j = (job_t){.in     = fire_blocked_of(in),
                 .out    = fire_blocked_of(out),
                 .stride = c->window.stride[0],
                 .slope  = fire_relu_behind(l)};
    for (int i = 0; i < 2; i++) {
        j->in_dim[i]  = c->image.dim[i];
        j->out_dim[i] = c->map.dim[i];
        j->pad[i]     = c->window.pad[i];
    }
    j->wide =
        (j->in_dim[1] > j->out_dim[1] ? j->in_dim[1] : j->out_dim[1]) * j->in->block;
    return FIRE_OK;
}

/* Scratch memory: weights, sums of all images, a row of zeros, buffers of all threads. */
static fire_status_t run(fire_layer_t *l, job_t *j, block_t *block, bool backward)
{
    int64_t       panel = j->in->blocks * j->in->block * SUMS;
    int64_t       sums  = backward ? j->in->num * panel : 0;
    int64_t       rows  = (1 + fire_threads() * TAPS) * j->wide;
    float        *scratch, *zeros;
    fire_status_t st;

    FIRE_TRY(fire_pool_take(l->ctx->pool,
                            (size_t)(panel + sums + rows) * sizeof(*scratch),
                            (void **)&scratch));
    zeros      = scratch + panel + sums;
    j->weights = scratch;
    j->sums    = scratch + panel;
    j->zeros   = zeros;
    memset(zeros, 0, (size_t)j->wide * sizeof(*zeros));
    st = pack_weights(l, j->in, scratch);
    if (st >= 0) run_blocks(j, block, zeros + j->wide);
    if (st >= 0 && backward) st = add_sums(l, j->in, j->sums);
    fire_pool_give(l->ctx->pool, scratch);
    return st;
}

fire_status_t fire_conv_channels_simd_forward(fire_layer_t *l)
{
    fire_format_t in, out;
    job_t         j;

    FIRE_TRY(describe(l, FIRE_DATA, &in, &out, &j));
    for (int k = 0; k < l->nbottom; k++) {
        FIRE_IN_AS(l->bottom[k], FIRE_DATA, &in, &j.x);
        FIRE_OUT_AS(l->nfollower > 0 ? fire_layer_result(l) : l->top[k], FIRE_DATA,
                    &out, &j.y);
        FIRE_TRY(run(l, &j, forward_block, false));
    }
    return FIRE_OK;
}

/* With steps of 2, dx is four times dy, and in memory that others wrote last: it would
 * come from their caches only to be overwritten. */
static bool writes_past(const job_t *j)
{
    return j->stride > 1 && j->in->block == FIRE_LANES && j->dx != NULL &&
           (uintptr_t)j->dx % 64 == 0;
}

fire_status_t fire_conv_channels_simd_backward(fire_layer_t *l)
{
    fire_format_t in, out;
    job_t         j;

    FIRE_TRY(fire_conv_relu_backward(l));
    FIRE_TRY(describe(l, FIRE_DATA, &in, &out, &j));
    for (int k = 0; k < l->nbottom; k++) {
        FIRE_IN_AS(l->bottom[k], FIRE_DATA, &in, &j.x);
        FIRE_IN_AS(l->top[k], FIRE_DIFF, &out, &j.dy);
        j.dx = NULL;
        if (l->propagate_down[k]) FIRE_OUT_AS(l->bottom[k], FIRE_DIFF, &in, &j.dx);
        j.past = writes_past(&j);
        FIRE_TRY(run(l, &j, backward_block, true));
    }
    return FIRE_OK;
}
