/* depthwise_simd.c - depthwise convolution of 3x3 windows on channels in blocks: one
 * vector holds a place of 16 channels. Backward makes both gradients in one pass, which
 * reads x and dy once and writes dx once. */
#include "device/cpu/blocked.h"
#include "device/cpu/parallel.h"
#include "device/cpu/simd.h"
#include "layers/activation/relu.h"
#include "layers/conv/conv.h"

enum {
    TAPS   = 3, /* a side */
    WINDOW = TAPS * TAPS,
    SUMS   = WINDOW + 1, /* gradients of the taps and of the bias */
    AHEAD  = 32,         /* places from being fetched to being used, about */
    SMALL  = 256,        /* places of a map that the CPU does not foresee well */
};

typedef struct job {
    const fire_blocked_t *in, *out;
    int64_t               in_dim[2], out_dim[2], stride, pad[2];
    int64_t               wide; /* elements of the longest row */
    const void           *x, *dy;
    void                 *y, *dx;         /* dx NULL: not wanted */
    bool                  past;           /* dx goes past the cache */
    float                 slope;          /* of a ReLU behind; 1: none */
    const float          *weights, *bias; /* as in the layer; bias NULL: none */
    float                *dw, *db;        /* added to; NULL: not wanted */
    const float          *zeros;          /* a row */
    float                *sums;           /* (place, image, tap, lane); NULL: forward */
} job_t;

/* One block of one image. */
typedef struct map {
    int64_t      k, next; /* its place among all, and that of the one to come */
    const float *weights; /* (tap, lane), the bias behind the taps */
    float       *sums;    /* likewise */
    float       *buffer;  /* three rows */
} map_t;

const char *fire_depthwise_simd_declines(const fire_layer_t *l)
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

fire_status_t fire_depthwise_simd_prepare(fire_layer_t *l)
{
    (void)l;
    return FIRE_OK;
}

void fire_depthwise_simd_release(fire_layer_t *l)
{
    (void)l;
}

bool fire_depthwise_simd_absorbs(const fire_layer_t *l, const fire_layer_t *next)
{
    return fire_conv_absorbs(l, next);
}

unsigned fire_depthwise_simd_needs(const fire_layer_t *l)
{
    return fire_conv_relu_needs(l);
}

/* ---- rows ---- */

/* The rows of one block, to be asked for in order. Rows of float32 are used where they
 * are, of others the last three are in the buffer. */
typedef struct rows {
    const char  *base, *next; /* of this block and of the one to come */
    int64_t      n, width;
    int64_t      asked; /* the first that was not asked for yet */
    const float *zeros;
    float       *buffer;
} rows_t;

/* Place i of an array. */
FIRE_SIMD const char *place_at(fire_dtype_t t, int lanes, const void *base, int64_t i)
{
    size_t size = t == FIRE_F32 ? sizeof(float) : sizeof(uint16_t);

    return (const char *)base + i * lanes * (int64_t)size;
}

FIRE_SIMD rows_t rows_of(fire_dtype_t t, int lanes, const job_t *j, const map_t *m,
                         const void *base, const int64_t *dim)
{
    int64_t plane = dim[0] * dim[1];

    return (rows_t){.base   = place_at(t, lanes, base, m->k * plane),
                    .next   = place_at(t, lanes, base, m->next * plane),
                    .n      = dim[0],
                    .width  = dim[1],
                    .zeros  = j->zeros,
                    .buffer = m->buffer};
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
    for (; r->asked <= row; r->asked++)
        if (t != FIRE_F32) convert_row(t, lanes, r, r->asked);
    return t == FIRE_F32 ? (const float *)r->base + row * n
                         : r->buffer + row % TAPS * n;
}

/* What memory should bring while `row` is worked on: the row that comes AHEAD places
 * later, of this block or of the next one. */
FIRE_SIMD const char *row_ahead(fire_dtype_t t, int lanes, const rows_t *r, int64_t row)
{
    int64_t later = 1 + AHEAD / r->width;

    row += later < r->n ? later : r->n;
    return row < r->n ? place_at(t, lanes, r->base, row * r->width)
                      : place_at(t, lanes, r->next, (row - r->n) * r->width);
}

FIRE_SIMD void fetch(fire_dtype_t t, int lanes, const char *row, int64_t i)
{
    __builtin_prefetch(place_at(t, lanes, row, i));
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

/* Row r of y from three of x. */
FIRE_SIMD void forward_row(fire_dtype_t t, int lanes, int stride, const job_t *j,
                           int64_t r, rows_t *x, const rows_t *y, const fire_vf_t *w)
{
    int64_t      top = r * stride - j->pad[0], at = r * y->width * lanes;
    const float *row[TAPS];
    const char  *ahead[2], *y_ahead = row_ahead(t, lanes, y, r);
    bool         small = y->n * y->width <= SMALL;
    fire_vf_t    sum;

    for (int i = 0; i < TAPS; i++)
        row[i] = row_at(t, lanes, x, top + i);
    for (int i = 0; i < stride; i++)
        ahead[i] = row_ahead(t, lanes, x, r * stride + i);
    for (int64_t c = 0; c < y->width; c++) {
        int64_t from = c * stride - j->pad[1];

        for (int i = 0; i < stride * stride; i++)
            fetch(t, lanes, ahead[i / stride], c * stride + i % stride);
        if (small) fetch(t, lanes, y_ahead, c);
        if (from >= 0 && from + TAPS <= x->width)
            sum = forward_window(lanes, true, row, x->width, from, w);
        else
            sum = forward_window(lanes, false, row, x->width, from, w);
        if (j->slope != 1.0f) sum = fire_vf_select(sum > 0.0f, sum, sum * j->slope);
        fire_vf_store((char *)y->base, t, lanes, at + c * lanes, sum);
    }
}

FIRE_SIMD void forward_step(fire_dtype_t t, int lanes, const job_t *j, const map_t *m)
{
    rows_t    x = rows_of(t, lanes, j, m, j->x, j->in_dim);
    rows_t    y = rows_of(t, lanes, j, m, j->y, j->out_dim);
    fire_vf_t w[SUMS];

#pragma GCC unroll 10
    for (int i = 0; i < SUMS; i++)
        w[i] = fire_vf_load(m->weights, FIRE_F32, lanes, i * lanes);
    if (j->stride == 1)
        for (int64_t r = 0; r < y.n; r++)
            forward_row(t, lanes, 1, j, r, &x, &y, w);
    else
        for (int64_t r = 0; r < y.n; r++)
            forward_row(t, lanes, 2, j, r, &x, &y, w);
}
FIRE_SIMD_KERNEL(forward_map, forward_map_any, forward_map_bf16, forward_step,
                 j->in->dtype, j->in->block, (const job_t *j, const map_t *m), j, m)

/* ---- backward ---- */

/* What a row of x meets: rows `first`, first + stride ... of the window, with the rows of
 * dy they belong to. */
typedef struct meeting {
    const float *dy[TAPS];
    fire_vf_t    w[WINDOW], sum[WINDOW]; /* a weight and its gradient */
} meeting_t;

/* Places g * stride - pad + e of row h, e = 0 ... stride - 1, each of which meets taps e,
 * e + stride ... of outputs g, g - 1 ...: dx, and what they add to the gradients. at: of
 * the row's first place; whole: none of this is outside */
FIRE_SIMD void back_group(fire_dtype_t t, int lanes, int stride, int first, bool whole,
                          const job_t *j, int64_t g, int64_t at, meeting_t *with)
{
#pragma GCC unroll 2
    for (int e = 0; e < stride; e++) {
        int64_t   place = g * stride - j->pad[1] + e;
        fire_vf_t x, d, dx = {0};

        if (!whole && (place < 0 || place >= j->in_dim[1])) continue;
        x = fire_vf_load(j->x, t, lanes, at + place * lanes);
#pragma GCC unroll 9
        for (int i = 0; i < WINDOW; i++) {
            int     row = i / TAPS, tap = i % TAPS;
            int64_t output = g - tap / stride;

            if (row % stride != first || tap % stride != e) continue;
            if (!whole && (output < 0 || output >= j->out_dim[1])) continue;
            d = fire_vf_load(with->dy[row / stride], FIRE_F32, lanes, output * lanes);
            dx += with->w[i] * d;
            with->sum[i] += x * d;
        }
        if (stride > 1 && lanes == FIRE_LANES && j->past)
            fire_vf_stream(j->dx, t, at + place * lanes, dx);
        else if (j->dx != NULL)
            fire_vf_store(j->dx, t, lanes, at + place * lanes, dx);
    }
}

/* Row h of x. */
FIRE_SIMD void back_row(fire_dtype_t t, int lanes, int stride, int first,
                        const job_t *j, const map_t *m, int64_t h, rows_t *dy,
                        meeting_t *with)
{
    rows_t      x   = rows_of(t, lanes, j, m, j->x, j->in_dim);
    int64_t     pad = j->pad[1], at = (m->k * x.n + h) * x.width * lanes;
    int64_t     below    = (h + j->pad[0]) / stride;
    const char *x_ahead  = row_ahead(t, lanes, &x, h);
    const char *dy_ahead = row_ahead(t, lanes, dy, below);

#pragma GCC unroll 3
    for (int i = 0; first + i * stride < TAPS; i++)
        with->dy[i] = row_at(t, lanes, dy, below - i);
    for (int64_t g = pad / stride; g * stride - pad < x.width; g++) {
        for (int e = 0; e < stride; e++)
            fetch(t, lanes, x_ahead, g * stride + e);
        if (first == 0) fetch(t, lanes, dy_ahead, g);
        if (g * stride >= pad && g * stride >= TAPS - 1 &&
            (g + 1) * stride - pad <= x.width && g < j->out_dim[1])
            back_group(t, lanes, stride, first, true, j, g, at, with);
        else
            back_group(t, lanes, stride, first, false, j, g, at, with);
    }
}

/* The gradient of the bias: in chunks, as sums of many numbers lose less so. */
FIRE_SIMD void sum_rows(fire_dtype_t t, int lanes, const rows_t *r, float *sum_p)
{
    fire_vf_t sum = {0};

    for (int64_t row = 0; row < r->n; row++) {
        fire_vf_t part = {0};

        for (int64_t i = 0; i < r->width; i++)
            part += fire_vf_load(r->base, t, lanes, (row * r->width + i) * lanes);
        sum += part;
    }
    fire_vf_store(sum_p, FIRE_F32, lanes, 0, sum);
}

FIRE_SIMD void backward_step(fire_dtype_t t, int lanes, const job_t *j, const map_t *m)
{
    rows_t    dy = rows_of(t, lanes, j, m, j->dy, j->out_dim);
    meeting_t with;

#pragma GCC unroll 9
    for (int i = 0; i < WINDOW; i++) {
        with.w[i]   = fire_vf_load(m->weights, FIRE_F32, lanes, i * lanes);
        with.sum[i] = (fire_vf_t){0};
    }
    if (j->stride == 1)
        for (int64_t h = 0; h < j->in_dim[0]; h++)
            back_row(t, lanes, 1, 0, j, m, h, &dy, &with);
    else
        for (int64_t h = 0; h < j->in_dim[0]; h++)
            if ((h + j->pad[0]) % 2 == 0)
                back_row(t, lanes, 2, 0, j, m, h, &dy, &with);
            else
                back_row(t, lanes, 2, 1, j, m, h, &dy, &with);
#pragma GCC unroll 9
    for (int i = 0; i < WINDOW; i++)
        fire_vf_store(m->sums, FIRE_F32, lanes, i * lanes, with.sum[i]);
    if (j->db != NULL) sum_rows(t, lanes, &dy, m->sums + WINDOW * lanes);
    if (j->past) fire_vf_fence();
}
FIRE_SIMD_KERNEL(backward_map, backward_map_any, backward_map_bf16, backward_step,
                 j->in->dtype, j->in->block, (const job_t *j, const map_t *m), j, m)

/* ---- all blocks ---- */

/* Channels of block k. */
static int64_t channels_of(const fire_blocked_t *b, int64_t k)
{
    return fire_piece(b->channels, k * b->block, b->block);
}

/* to: (tap, lane) from the layer's (channel, tap). */
static void pack_weights(const job_t *j, int64_t block, float *to)
{
    const fire_blocked_t *b = j->in;

    memset(to, 0, (size_t)(b->block * SUMS) * sizeof(*to));
    for (int64_t c = 0; c < channels_of(b, block); c++) {
        int64_t channel = block * b->block + c;

        for (int64_t i = 0; i < WINDOW; i++)
            to[i * b->block + c] = j->weights[channel * WINDOW + i];
        if (j->bias != NULL) to[WINDOW * b->block + c] = j->bias[channel];
    }
}

/* Of one image, in one of as many places as there are blocks; NULL in forward. */
static float *sums_at(const job_t *j, int64_t place, int64_t image)
{
    int64_t panel = j->in->block * SUMS;

    return j->sums == NULL ? NULL : j->sums + (place * j->in->num + image) * panel;
}

/* The images' sums, added in order, whoever made them; they end up in those of the first
 * image. */
static void add_sums(const job_t *j, int64_t block, float *sums)
{
    const fire_blocked_t *b    = j->in;
    int64_t               taps = j->db != NULL ? SUMS : WINDOW;

    for (int64_t n = 1; n < b->num; n++)
        for (int64_t i = 0; i < taps * b->block; i++)
            sums[i] += sums[n * SUMS * b->block + i];
    for (int64_t c = 0; c < channels_of(b, block); c++) {
        int64_t channel = block * b->block + c;

        for (int64_t i = 0; i < WINDOW && j->dw != NULL; i++)
            j->dw[channel * WINDOW + i] += sums[i * b->block + c];
        if (j->db != NULL) j->db[channel] += sums[WINDOW * b->block + c];
    }
}

typedef void map_kernel_t(const job_t *j, const map_t *m);

/* Maps begin ... end - 1, where those of all images come before the next block. Blocks
 * that are all here use the first one's place for their sums, one after the other. */
static void run_maps(const job_t *j, map_kernel_t *kernel, int64_t begin, int64_t end,
                     float *buffer)
{
    int64_t num = j->in->num, blocks = j->in->blocks;
    float   weights[SUMS * FIRE_LANES];

    for (int64_t i = begin; i < end; i++) {
        int64_t block = i / num, image = i % num, next = i + 1 < end ? i + 1 : i;
        bool    whole = block * num >= begin && (block + 1) * num <= end;
        int64_t place = whole ? (begin + num - 1) / num : block;
        map_t   m     = {.k       = image * blocks + block,
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

/* Blocks whose images more than one thread had. */
static void add_shared(const job_t *j, int64_t threads)
{
    int64_t num = j->in->num, n = num * j->in->blocks;

    for (int64_t i = 1, last = -1; i < threads; i++) {
        int64_t cut = n * i / threads, block = cut / num;

        if (cut % num == 0 || block == last) continue;
        add_sums(j, block, sums_at(j, block, 0));
        last = block;
    }
}

/* The same channels of all images in a row, as the layers around share their work: what a
 * thread finds in its cache is its own. buffers: three rows for each thread */
static void run_blocks(const job_t *j, map_kernel_t *kernel, float *buffers)
{
    int64_t threads = fire_threads(), num = j->in->num, n = num * j->in->blocks;

    FIRE_PARALLEL(i, threads, true)
    run_maps(j, kernel, n * i / threads, n * (i + 1) / threads,
             buffers + i * TAPS * j->wide);
    if (j->sums != NULL) add_shared(j, threads);
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

/* Scratch memory: sums of all images, a row of zeros, buffers of all threads. */
static fire_status_t run(fire_layer_t *l, job_t *j, map_kernel_t *kernel, bool backward)
{
    fire_format_t plain = FIRE_FORMAT_PLAIN(FIRE_CPU);
    int64_t sums = backward ? j->in->num * j->in->blocks * j->in->block * SUMS : 0;
    int64_t rows = (1 + fire_threads() * TAPS) * j->wide;
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

fire_status_t fire_depthwise_simd_forward(fire_layer_t *l)
{
    fire_format_t in, out;
    job_t         j;

    FIRE_TRY(describe(l, FIRE_DATA, &in, &out, &j));
    for (int k = 0; k < l->nbottom; k++) {
        FIRE_IN_AS(l->bottom[k], FIRE_DATA, &in, &j.x);
        FIRE_OUT_AS(l->nfollower > 0 ? fire_layer_result(l) : l->top[k], FIRE_DATA,
                    &out, &j.y);
        FIRE_TRY(run(l, &j, forward_map, false));
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

fire_status_t fire_depthwise_simd_backward(fire_layer_t *l)
{
    fire_format_t in, out;
    job_t         j;

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
        FIRE_TRY(run(l, &j, backward_map, true));
    }
    return FIRE_OK;
}
