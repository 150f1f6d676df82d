/* bf16.c - Winograd's algorithm for 3x3 taps in bfloat16: forward, and backward to the
 * inputs. Cut over threads as in winograd.c. */
#include "layers/conv/winograd/bf16.h"

#include "device/cpu/parallel.h"
#include "layers/conv/winograd/multiply_bf16.h"
#include "layers/conv/winograd/transform4.h"

enum {
    TILE   = FIRE_WINO_SMALL,
    POINTS = FIRE_WINO_SMALL_POINTS,
    TAPS   = FIRE_WINO_SMALL_EDGE,
    ROWS   = 12, /* sums that fit into registers together with the factors */
};

bool fire_winograd_works_bf16(void)
{
    return fire_cpu_rounds();
}

static size_t panel_bytes(int64_t blocks, int64_t rows, size_t element)
{
    return (size_t)(POINTS * fire_wino_pair_step(blocks, rows)) * element;
}

/* ---- transforms ---- */

FIRE_SIMD bool is_inside(const fire_wino_tile_t *p, int n)
{
    return p->y0 == 0 && p->x0 == 0 && p->y1 == n && p->x1 == n;
}

/* B' d B of tiles first ... first + many - 1, into rows of a panel. Channels are the
 * outer loop, so that few cache lines are written at a time. */
FIRE_AVX512_BF16 static void read_tiles(const fire_wino_pass_t *w, int64_t first,
                                        int64_t many, const uint16_t *x,
                                        uint16_t *panel)
{
    int64_t   step = fire_wino_pair_step(w->in_blocks, w->chunk);
    fire_vf_t point[POINTS];

    for (int64_t b = 0; b < w->in_blocks; b++) {
        const uint16_t *src = x + b * w->in[0] * w->in[1] * FIRE_LANES;
        uint16_t       *dst = panel + b * w->chunk * FIRE_LANES;
        fire_wino_at_t  at  = fire_wino_at(w, first);

        for (int64_t t = 0; t < many; t++, at = fire_wino_next(w, at)) {
            fire_wino_tile_t p = fire_wino_input_tile_at(w, at);

            if (is_inside(&p, TILE))
                fire_wino4_input(FIRE_BF16_CPU, true, &p, src, point);
            else
                fire_wino4_input(FIRE_BF16_CPU, false, &p, src, point);
            for (int i = 0; i < POINTS; i++)
                fire_vf_write_cpu(dst + t * FIRE_LANES + i * step, point[i]);
        }
    }
}

FIRE_SIMD void write_tile(int rows, int columns, const fire_wino_tile_t *p,
                          fire_vf_t (*out)[FIRE_WINO_EDGE], fire_vf_t bias, float slope,
                          uint16_t *y)
{
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++) {
            fire_vf_t v = out[i][j] + bias;

            if (slope != 1.0f) v = fire_vf_select(v > 0, v, v * slope);
            fire_vf_write_cpu(y + (p->corner + i * p->width + j) * FIRE_LANES, v);
        }
}

/* A' t A + bias, then ReLU: a block of channels of `many` tiles from `first` on. src:
 * the products (point, tile, 16) */
FIRE_AVX512_BF16 static void write_tiles(const fire_wino_pass_t *w, int64_t first,
                                         int64_t many, int64_t block, const float *src,
                                         const float *bias, float slope, uint16_t *y)
{
    int64_t        step = fire_wino_pair_step(1, w->chunk);
    fire_wino_at_t at   = fire_wino_at(w, first);
    fire_vf_t      more, out[FIRE_WINO_EDGE][FIRE_WINO_EDGE];

    memcpy(&more, bias + block * FIRE_LANES, sizeof(more));
    y += block * w->out[0] * w->out[1] * FIRE_LANES;
    for (int64_t t = 0; t < many; t++, src += FIRE_LANES, at = fire_wino_next(w, at)) {
        fire_wino_tile_t p = fire_wino_output_tile_at(w, at);

        fire_wino4_output(2, src, step, out);
        if (is_inside(&p, 2))
            write_tile(2, 2, &p, out, more, slope, y);
        else
            write_tile(p.y1, p.x1, &p, out, more, slope, y);
    }
}

/* ---- weights ---- */

/* G g G' of channels k and k + 1 of a group, into panel (point, block of outputs, pair
 * of channels, 16, 2). */
FIRE_AVX512_BF16 static void read_taps(const fire_wino_pass_t *w, bool back,
                                       const float *weights, int64_t block, int64_t k,
                                       uint16_t *panel)
{
    int64_t          depth = w->in_step * FIRE_LANES;
    fire_wino_tile_t all   = {.width = TAPS, .y1 = TAPS, .x1 = TAPS};
    float            taps[TAPS * TAPS * FIRE_LANES];
    fire_vf_t        point[2][POINTS];

    for (int i = 0; i < 2; i++) {
        fire_wino_gather_taps(TAPS, w, back, weights, block, k + i, taps);
        fire_wino4_taps(FIRE_F32, TAPS, &all, taps, point[i]);
    }
    panel += (block * depth + k) * FIRE_LANES;
    for (int i = 0; i < POINTS;
         i++, panel += fire_wino_pair_step(w->out_blocks, depth)) {
        fire_vu_t pairs = fire_wino_make_pairs(point[0][i], point[1][i]);

        memcpy(panel, &pairs, sizeof(pairs));
    }
}

static void read_weights(const fire_wino_pass_t *w, bool back, const float *weights,
                         uint16_t *panel)
{
    int64_t pairs = w->in_step * FIRE_LANES / 2;

    FIRE_PARALLEL(i, w->out_blocks * pairs, true)
    read_taps(w, back, weights, i / pairs, i % pairs * 2, panel);
}

/* ---- from x to y; backward, from dy to dx ---- */

/* n rows of c = a b; a: blocks of 16 columns, a_block elements apart. n: a constant */
FIRE_SIMD void dot_rows(int n, int64_t blocks, const uint16_t *a, int64_t a_block,
                        const uint16_t *b, float *c)
{
    fire_vf_t sum[ROWS] = {{0}};

    for (int64_t k = 0; k < blocks; k++, a += a_block)
#pragma GCC unroll 8
        for (int j = 0; j < FIRE_LANES; j += 2, b += FIRE_PAIR) {
            fire_vu_t v = fire_wino_load_pairs(b);

#pragma GCC unroll 12
            for (int i = 0; i < n; i++)
                sum[i] = fire_wino_dot(sum[i], v, a + i * FIRE_LANES + j);
        }
    for (int i = 0; i < n; i++)
        memcpy(c + i * FIRE_LANES, &sum[i], sizeof(sum[i]));
}

#define DOT_CASE(n)                            \
    case n:                                    \
        dot_rows(n, blocks, a, a_block, b, c); \
        break

FIRE_AVX512_BF16 static void dot_panel(int64_t rows, int64_t blocks, const uint16_t *a,
                                       int64_t a_block, const uint16_t *b, float *c)
{
    for (; rows > 0; rows -= ROWS) {
        switch (rows) {
            DOT_CASE(1);
            DOT_CASE(2);
            DOT_CASE(3);
            DOT_CASE(4);
            DOT_CASE(5);
            DOT_CASE(6);
            DOT_CASE(7);
            DOT_CASE(8);
            DOT_CASE(9);
            DOT_CASE(10);
            DOT_CASE(11);
        default:
            dot_rows(ROWS, blocks, a, a_block, b, c);
        }
        a += ROWS * FIRE_LANES;
        c += ROWS * FIRE_LANES;
    }
}

typedef struct job {
    fire_wino_pass_t pass;
    const uint16_t  *x, *weights; /* weights: panel */
    uint16_t        *y;
    const float     *bias; /* padded with zeros to whole blocks */
    float            slope;
} job_t;

/* Tiles of a chunk: as many as keep its transformed inputs in a core's cache, at least
 * enough to amortise reading the weights; rounded so that all threads get about the
 * same number, in whole groups of ROWS. */
static int64_t chunk_of_tiles(const fire_wino_pass_t *w)
{
    enum { CACHE = 1 << 19, LEAST = 4 * ROWS };
    int64_t row   = POINTS * FIRE_LANES * (w->in_blocks * 2 + 4);
    int64_t most  = CACHE / row > LEAST ? CACHE / row : LEAST;
    int64_t turns = fire_ceil_div(w->tiles, most * fire_threads()) * fire_threads();

    return fire_ceil_div(fire_ceil_div(w->tiles, turns), ROWS) * ROWS;
}

static void run_chunk(const job_t *job, int64_t first, uint16_t *in, float *out)
{
    const fire_wino_pass_t *w    = &job->pass;
    int64_t                 many = fire_wino_clamp(w->tiles - first, w->chunk);
    int64_t wide = w->in_step * FIRE_LANES * FIRE_LANES, tall = w->chunk * FIRE_LANES;

    read_tiles(w, first, many, job->x, in);
    for (int64_t k = 0; k < w->out_blocks; k++) {
        for (int64_t s = 0; s < POINTS; s++)
            dot_panel(
                many, w->in_step,
                in + s * fire_wino_pair_step(w->in_blocks, w->chunk) +
                    k / w->out_step * w->in_step * tall,
                tall,
                job->weights +
                    s * fire_wino_pair_step(w->out_blocks, w->in_step * FIRE_LANES) +
                    k * wide,
                out + s * fire_wino_pair_step(1, w->chunk));
        write_tiles(w, first, many, k, out, job->bias, job->slope, job->y);
    }
}

/* scratch: `each` bytes per thread, the panel of `inputs` bytes first */
static void run_chunks(const job_t *job, int64_t threads, size_t inputs, size_t each,
                       char *scratch)
{
    const fire_wino_pass_t *w = &job->pass;

    FIRE_PARALLEL(i, threads, true)
    for (int64_t t = i * w->chunk; t < w->tiles; t += threads * w->chunk)
        run_chunk(job, t, (uint16_t *)(scratch + (size_t)i * each),
                  (float *)(scratch + (size_t)i * each + inputs));
}

fire_status_t fire_winograd_bf16_run(const fire_winograd_t *c, bool back, const void *x,
                                     const float *weights, const float *bias,
                                     float slope, void *y, fire_pool_t *pool)
{
    job_t job           = {.pass = fire_wino_pass_make(c, back, TILE), .slope = slope};
    fire_wino_pass_t *w = &job.pass;
    int64_t           threads = fire_threads();
    size_t            fixed   = panel_bytes(w->out_blocks, w->in_step * FIRE_LANES, 2);
    size_t            ends    = (size_t)(w->out_blocks * FIRE_LANES) * sizeof(float);
    size_t            in, each;
    char             *panel;

    w->chunk = chunk_of_tiles(w);
    in       = panel_bytes(w->in_blocks, w->chunk, sizeof(uint16_t));
    each     = in + panel_bytes(1, w->chunk, sizeof(float));
    FIRE_TRY(
        fire_pool_take(pool, fixed + ends + (size_t)threads * each, (void **)&panel));
    memset(panel + fixed, 0, ends);
    if (bias != NULL)
        memcpy(panel + fixed, bias, (size_t)w->out_channels * sizeof(*bias));
    read_weights(w, back, weights, (uint16_t *)panel);
    job.x       = x;
    job.y       = y;
    job.weights = (uint16_t *)panel;
    job.bias    = (float *)(panel + fixed);
    run_chunks(&job, threads, in, each, panel + fixed + ends);
    fire_pool_give(pool, panel);
    return FIRE_OK;
}
