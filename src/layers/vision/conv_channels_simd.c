/* conv_channels_simd.c - depthwise convolution of 3x3 windows on channels in blocks: one
 * vector holds a place of 16 channels. Rows pass through small buffers with zeros around
 * them, so that windows need no borders. Backward makes both gradients in one pass, which
 * reads x and dy once and writes dx once. */
#include "device/cpu/blocked.h"
#include "device/cpu/parallel.h"
#include "device/cpu/simd.h"
#include "layers/neuron/relu.h"
#include "layers/vision/conv.h"

enum {
    TAPS    = 3, /* a side */
    WINDOW  = TAPS * TAPS,
    SUMS    = WINDOW + 1, /* gradients of the taps and of the bias */
    MARGIN  = TAPS,       /* places around a row in its buffer */
    BUFFERS = TAPS + 1,   /* rows in use, and one of zeros */
};

typedef struct job {
    const fire_blocked_t *in, *out;
    int64_t               in_dim[2], out_dim[2], stride, pad[2];
    int64_t               wide; /* elements of a buffer for one row */
    const void           *x, *dy;
    void                 *y, *dx;  /* dx NULL: not wanted */
    float                 slope;   /* of a ReLU behind; 1: none */
    const float          *weights; /* (block, tap, lane), the bias behind the taps */
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

/* The rows of one block, to be asked for in order; the last three are there. Margins and
 * the row behind them stay zero. */
typedef struct rows {
    const void *base;
    int64_t     n, width, wide;
    int64_t     next; /* the first that was not asked for yet */
    float      *buffer;
} rows_t;

/* Place 0 of a row. Rows outside are zero. */
FIRE_SIMD const float *row_at(fire_dtype_t t, int lanes, rows_t *r, int64_t row)
{
    for (; r->next <= row && r->next < r->n; r->next++) {
        float  *to = r->buffer + r->next % TAPS * r->wide + MARGIN * lanes;
        int64_t at = r->next * r->width * lanes;

        for (int64_t i = 0; i < r->width * lanes; i += lanes)
            fire_vf_store(to, FIRE_F32, lanes, i,
                          fire_vf_load(r->base, t, lanes, at + i));
    }
    return r->buffer + (row < 0 || row >= r->n ? TAPS : row % TAPS) * r->wide +
           MARGIN * lanes;
}

/* ---- forward ---- */

FIRE_SIMD void forward_line(fire_dtype_t t, int lanes, const job_t *j,
                            const float *const *row, const float *weights, void *y,
                            int64_t at)
{
    fire_vf_t w[SUMS];

    for (int i = 0; i < SUMS; i++)
        w[i] = fire_vf_load(weights, FIRE_F32, lanes, i * lanes);
    for (int64_t c = 0; c < j->out_dim[1]; c++) {
        int64_t   from = (c * j->stride - j->pad[1]) * lanes;
        fire_vf_t sum  = w[WINDOW];

        for (int i = 0; i < WINDOW; i++)
            sum += w[i] * fire_vf_load(row[i / TAPS], FIRE_F32, lanes,
                                       from + i % TAPS * lanes);
        if (j->slope != 1.0f) sum = fire_vf_select(sum > 0.0f, sum, sum * j->slope);
        fire_vf_store(y, t, lanes, at + c * lanes, sum);
    }
}

FIRE_SIMD void forward_step(fire_dtype_t t, int lanes, const job_t *j, int64_t k,
                            float *buffer)
{
    size_t       size = t == FIRE_F32 ? sizeof(float) : sizeof(uint16_t);
    rows_t       x    = {(const char *)j->x + (size_t)(k * j->in->plane * lanes) * size,
                         j->in_dim[0],
                         j->in_dim[1],
                         j->wide,
                         0,
                         buffer};
    const float *row[TAPS];

    for (int64_t r = 0; r < j->out_dim[0]; r++) {
        for (int i = 0; i < TAPS; i++)
            row[i] = row_at(t, lanes, &x, r * j->stride - j->pad[0] + i);
        forward_line(t, lanes, j, row, j->weights + k % j->in->blocks * SUMS * lanes,
                     j->y, (k * j->out->plane + r * j->out_dim[1]) * lanes);
    }
}
FIRE_SIMD_KERNEL(forward_block, forward_step, j->in->dtype, j->in->block,
                 (const job_t *j, int64_t k, float *buffer), j, k, buffer)

/* ---- backward ---- */

/* Of one axis: the first tap that meets a place, the output that it belongs to, and how
 * many taps do: each one `stride` further belongs to the output before. */
typedef struct meet {
    int64_t tap, output, n;
} meet_t;

static inline meet_t meet_at(const job_t *j, int axis, int64_t place)
{
    int64_t to = place + j->pad[axis], tap = to % j->stride;

    return (meet_t){tap, (to - tap) / j->stride,
                    (TAPS - tap + j->stride - 1) / j->stride};
}

/* Places of one row that meet the same nh x nw taps: dx, and what they add to the
 * gradients of these taps. dy: rows at the first place's first output. */
FIRE_SIMD void back_line(fire_dtype_t t, int lanes, int nh, int nw, const job_t *j,
                         const float *const *dy, const int *tap, const float *weights,
                         int64_t n, int64_t at, float *sums)
{
    fire_vf_t w[WINDOW], s[WINDOW];

    for (int i = 0; i < nh * nw; i++) {
        w[i] = fire_vf_load(weights, FIRE_F32, lanes, tap[i] * lanes);
        s[i] = fire_vf_load(sums, FIRE_F32, lanes, tap[i] * lanes);
    }
    for (int64_t i = 0; i < n; i++, at += j->stride * lanes) {
        fire_vf_t x = fire_vf_load(j->x, t, lanes, at), dx = {0};

#pragma GCC unroll 9
        for (int q = 0; q < nh * nw; q++) {
            fire_vf_t d =
                fire_vf_load(dy[q / nw], FIRE_F32, lanes, (i - q % nw) * lanes);

            dx += w[q] * d;
            s[q] += x * d;
        }
        if (j->dx != NULL) fire_vf_store(j->dx, t, lanes, at, dx);
    }
    for (int i = 0; i < nh * nw; i++)
        fire_vf_store(sums, FIRE_F32, lanes, tap[i] * lanes, s[i]);
}

/* Row h of block k: places that lie `stride` apart meet the same taps. */
FIRE_SIMD void back_row(fire_dtype_t t, int lanes, const job_t *j, int64_t k, int64_t h,
                        rows_t *rows, float *sums)
{
    const float *weights = j->weights + k % j->in->blocks * SUMS * lanes, *dy[TAPS];
    meet_t       down    = meet_at(j, 0, h);
    int          tap[WINDOW];

    for (int64_t w = 0; w < j->stride && w < j->in_dim[1]; w++) {
        meet_t  across = meet_at(j, 1, w);
        int64_t n      = (j->in_dim[1] - w + j->stride - 1) / j->stride;
        int64_t at     = (k * j->in->plane + h * j->in_dim[1] + w) * lanes;

        for (int i = 0; i < down.n; i++)
            dy[i] = row_at(t, lanes, rows, down.output - i) + across.output * lanes;
        for (int i = 0; i < down.n * across.n; i++)
            tap[i] = (int)((down.tap + i / across.n * j->stride) * TAPS + across.tap +
                           i % across.n * j->stride);
        if (down.n == 3)
            back_line(t, lanes, 3, 3, j, dy, tap, weights, n, at, sums);
        else if (down.n == 2 && across.n == 2)
            back_line(t, lanes, 2, 2, j, dy, tap, weights, n, at, sums);
        else if (down.n == 2)
            back_line(t, lanes, 2, 1, j, dy, tap, weights, n, at, sums);
        else if (across.n == 2)
            back_line(t, lanes, 1, 2, j, dy, tap, weights, n, at, sums);
        else
            back_line(t, lanes, 1, 1, j, dy, tap, weights, n, at, sums);
    }
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
    size_t size = t == FIRE_F32 ? sizeof(float) : sizeof(uint16_t);
    float *sums = j->sums + k * SUMS * lanes;
    rows_t dy   = {(const char *)j->dy + (size_t)(k * j->out->plane * lanes) * size,
                   j->out_dim[0],
                   j->out_dim[1],
                   j->wide,
                   0,
                   buffer};

    memset(sums, 0, (size_t)(SUMS * lanes) * sizeof(*sums));
    for (int64_t h = 0, summed = 0; h < j->in_dim[0]; h++) {
        back_row(t, lanes, j, k, h, &dy, sums);
        for (; summed < dy.next; summed++)
            sum_row(lanes, j->out_dim[1], row_at(t, lanes, &dy, summed),
                    sums + WINDOW * lanes);
    }
}
FIRE_SIMD_KERNEL(backward_block, backward_step, j->in->dtype, j->in->block,
                 (const job_t *j, int64_t k, float *buffer), j, k, buffer)

/* ---- all blocks ---- */

/* weights: (block, tap, lane) from the layer's (channel, tap). */
static fire_status_t pack_weights(fire_layer_t *l, const fire_blocked_t *b, float *to)
{
    fire_format_t plain = FIRE_FORMAT_PLAIN(FIRE_CPU);
    const void   *from;
    const float  *weights, *bias;

    FIRE_TRY(fire_conv_weights(l, &plain, &from, &bias));
    weights = from;
    memset(to, 0, (size_t)(b->blocks * b->block * SUMS) * sizeof(*to));
    for (int64_t c = 0; c < b->channels; c++) {
        float *at = to + c / b->block * b->block * SUMS + c % b->block;

        for (int64_t i = 0; i < WINDOW; i++)
            at[i * b->block] = weights[c * WINDOW + i];
        if (bias != NULL) at[WINDOW * b->block] = bias[c];
    }
    return FIRE_OK;
}

/* Images' sums are added in order, whoever made them. */
static fire_status_t add_sums(fire_layer_t *l, const fire_blocked_t *b,
                              const float *sums)
{
    float *dw = NULL, *db = NULL;

    if (l->param_gradient[0]) FIRE_INOUT(l, l->blob[0], FIRE_DIFF, &dw);
    if (l->nblob > 1 && l->param_gradient[1]) FIRE_INOUT(l, l->blob[1], FIRE_DIFF, &db);
    for (int64_t n = 0; n < b->num; n++)
        for (int64_t c = 0; c < b->channels; c++) {
            const float *at =
                sums + (n * b->blocks + c / b->block) * b->block * SUMS + c % b->block;

            for (int64_t i = 0; i < WINDOW && dw != NULL; i++)
                dw[c * WINDOW + i] += at[i * b->block];
            if (db != NULL) db[c] += at[WINDOW * b->block];
        }
    return FIRE_OK;
}

typedef void block_t(const job_t *j, int64_t k, float *buffer);

static void run_blocks(const job_t *j, block_t *block, float *buffers)
{
    int64_t threads = fire_threads(), n = j->in->num * j->in->blocks;

    memset(buffers, 0, (size_t)(threads * BUFFERS * j->wide) * sizeof(*buffers));
    FIRE_PARALLEL(i, threads, true)
    for (int64_t k = i; k < n; k += threads)
        block(j, k, buffers + i * BUFFERS * j->wide);
}

/* What both passes know of the layer; formats are those of x. */
static fire_status_t describe(fire_layer_t *l, fire_part_t part, fire_format_t *in,
                              fire_format_t *out, job_t *j)
{
    const fire_conv_t *c = FIRE_STATE(l, fire_conv_t);
    int64_t            most;

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
    most    = j->in_dim[1] > j->out_dim[1] ? j->in_dim[1] : j->out_dim[1];
    j->wide = (most + 2 * MARGIN) * j->in->block;
    return FIRE_OK;
}

/* Scratch memory: weights, sums of all images, buffers of all threads. */
static fire_status_t run(fire_layer_t *l, job_t *j, block_t *block, bool backward)
{
    int64_t       panel = j->in->blocks * j->in->block * SUMS;
    int64_t       sums  = backward ? j->in->num * panel : 0;
    int64_t       rows  = fire_threads() * BUFFERS * j->wide;
    float        *scratch;
    fire_status_t st;

    FIRE_TRY(fire_pool_take(l->ctx->pool,
                            (size_t)(panel + sums + rows) * sizeof(*scratch),
                            (void **)&scratch));
    j->weights = scratch;
    j->sums    = scratch + panel;
    st         = pack_weights(l, j->in, scratch);
    if (st >= 0) run_blocks(j, block, scratch + panel + sums);
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
        FIRE_TRY(run(l, &j, backward_block, true));
    }
    return FIRE_OK;
}
