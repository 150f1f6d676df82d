/* bf16_weights.c - the gradient of 3x3 taps by Winograd's algorithm in bfloat16, in
 * tiles of 4x4 places: at each point, the sum over all tiles of transformed inputs
 * times transformed gradients of the outputs (which act as 2x2 taps).
 *
 * A unit of work is one row of four points, for some blocks of outputs and all tiles.
 * It transforms only what it multiplies, so that both factors and its sums stay in one
 * core's cache. Each sum is made by one unit, in the order of the tiles. */
#include "device/cpu/parallel.h"
#include "layers/conv/winograd/bf16.h"
#include "layers/conv/winograd/multiply_bf16.h"
#include "layers/conv/winograd/transform4.h"

enum { TILE = FIRE_WINO_SMALL, TAPS = FIRE_WINO_SMALL_EDGE };

typedef struct job {
    fire_wino_pass_t pass;
    const uint16_t  *x, *dy;
    float           *sums; /* panel (point, block of outputs, input of the group, 16) */
    int64_t          parts; /* parts that the blocks of outputs are cut into */
} job_t;

/* One row of B' or of G: two places of a column, times factors. */
typedef struct column {
    int   y[2];
    float factor[2];
} column_t;

FIRE_SIMD fire_vf_t mix(const column_t *c, bool inside, const fire_wino_tile_t *p,
                        const uint16_t *src, int x)
{
    return fire_wino4_load(FIRE_BF16_CPU, inside, p, src, c->y[0], x) * c->factor[0] +
           fire_wino4_load(FIRE_BF16_CPU, inside, p, src, c->y[1], x) * c->factor[1];
}

/* Store four points of two tiles as pairs. */
FIRE_SIMD void store_pairs(fire_vf_t (*point)[TILE], int64_t step, uint16_t *dst)
{
    for (int s = 0; s < TILE; s++) {
        fire_vu_t pairs = fire_wino_make_pairs(point[0][s], point[1][s]);

        memcpy(dst + s * step, &pairs, sizeof(pairs));
    }
}

FIRE_SIMD void read_input(const column_t *c, bool inside, const fire_wino_tile_t *p,
                          const uint16_t *x, fire_vf_t *point)
{
    fire_vf_t d[TILE];

    for (int i = 0; i < TILE; i++)
        d[i] = mix(c, inside, p, x, i);
    fire_wino4_input_1d(d, point);
}

FIRE_SIMD void read_gradient(const column_t *c, bool inside, const fire_wino_tile_t *p,
                             const uint16_t *dy, fire_vf_t *point)
{
    fire_vf_t d[2];

    for (int i = 0; i < 2; i++)
        d[i] = mix(c, inside, p, dy, i);
    fire_wino4_taps_1d(2, d, point);
}

FIRE_SIMD bool is_inside(const fire_wino_tile_t *p, int n)
{
    return p->y0 == 0 && p->x0 == 0 && p->y1 == n && p->x1 == n;
}

/* Row `row` of B' d B of tiles first ... first + many - 1, two tiles to a row of pairs;
 * an odd last one is paired with zeros. */
FIRE_AVX512_BF16 static void read_inputs(const fire_wino_pass_t *w, int row,
                                         int64_t first, int64_t many, const uint16_t *x,
                                         uint16_t *panel)
{
    static const column_t columns[TILE] = {
        {{0, 2}, {1, -1}}, {{1, 2}, {1, 1}}, {{2, 1}, {1, -1}}, {{3, 1}, {1, -1}}};
    const column_t *c    = &columns[row];
    int64_t         step = fire_wino_pair_step(w->in_blocks, w->chunk);
    fire_vf_t       point[2][TILE];

    for (int64_t b = 0; b < w->in_blocks; b++) {
        const uint16_t *src = x + b * w->in[0] * w->in[1] * FIRE_LANES;
        fire_wino_at_t  at  = fire_wino_at(w, first);

        for (int64_t t = 0; t < many; t += 2) {
            for (int i = 0; i < 2; i++, at = fire_wino_next(w, at)) {
                fire_wino_tile_t p = fire_wino_input_tile_at(w, at);

                if (t + i == many) p.y1 = 0;
                if (is_inside(&p, TILE))
                    read_input(c, true, &p, src, point[i]);
                else
                    read_input(c, false, &p, src, point[i]);
            }
            store_pairs(point, step, panel + (b * w->chunk + t) * FIRE_LANES);
        }
    }
}

/* The same of the outputs' gradients, which act as taps on the inputs, for blocks begin
 * ... end - 1. */
FIRE_AVX512_BF16 static void read_gradients(const fire_wino_pass_t *w, int row,
                                            int64_t first, int64_t many,
                                            const uint16_t *dy, int64_t begin,
                                            int64_t end, uint16_t *panel)
{
    static const column_t columns[TILE] = {{{0, 1}, {1, 0}},
                                           {{0, 1}, {0.5f, 0.5f}},
                                           {{0, 1}, {0.5f, -0.5f}},
                                           {{0, 1}, {0, 1}}};
    const column_t       *c             = &columns[row];
    int64_t               step          = fire_wino_pair_step(end - begin, w->chunk);
    fire_vf_t             point[2][TILE];

    for (int64_t b = begin; b < end; b++, panel += w->chunk * FIRE_LANES) {
        const uint16_t *src = dy + b * w->out[0] * w->out[1] * FIRE_LANES;
        fire_wino_at_t  at  = fire_wino_at(w, first);

        for (int64_t t = 0; t < many; t += 2) {
            for (int i = 0; i < 2; i++, at = fire_wino_next(w, at)) {
                fire_wino_tile_t p = fire_wino_output_tile_at(w, at);

                if (t + i == many) p.y1 = 0;
                if (is_inside(&p, 2))
                    read_gradient(c, true, &p, src, point[i]);
                else
                    read_gradient(c, false, &p, src, point[i]);
            }
            store_pairs(point, step, panel + t * FIRE_LANES);
        }
    }
}

/* 16 rows of c += a' b, for `depth` pairs of rows of a and b, 16 columns each */
FIRE_AVX512_BF16 static void dot_block(int64_t depth, const uint16_t *a,
                                       const uint16_t *b, float *c)
{
    fire_vf_t sum[FIRE_LANES];

#pragma GCC unroll 16
    for (int i = 0; i < FIRE_LANES; i++)
        memcpy(&sum[i], c + i * FIRE_LANES, sizeof(sum[i]));
    for (int64_t k = 0; k < depth; k++, a += FIRE_PAIR, b += FIRE_PAIR) {
        fire_vu_t v = fire_wino_load_pairs(b);

#pragma GCC unroll 16
        for (int i = 0; i < FIRE_LANES; i++)
            sum[i] = fire_wino_dot(sum[i], v, a + 2 * i);
    }
#pragma GCC unroll 16
    for (int i = 0; i < FIRE_LANES; i++)
        memcpy(c + i * FIRE_LANES, &sum[i], sizeof(sum[i]));
}

/* sums += inputs' * gradients, for one point and one block of outputs. */
static void sum_pairs(const fire_wino_pass_t *w, int64_t many, int64_t block,
                      const uint16_t *in, const uint16_t *out, float *sums)
{
    int64_t tall = w->chunk * FIRE_LANES;

    in += block / w->out_step * w->in_step * tall;
    for (int64_t k = 0; k < w->in_step; k++)
        dot_block((many + 1) / 2, in + k * tall, out,
                  sums + (block * w->in_step + k) * FIRE_LANES * FIRE_LANES);
}

/* A unit's work on a chunk of tiles from t on: row `row` of the points, part `part` of
 * the outputs. in: scratch memory for both factors */
static void sum_row(const job_t *job, int64_t t, int row, int64_t part, uint16_t *in)
{
    const fire_wino_pass_t *w       = &job->pass;
    int64_t                 many    = fire_wino_clamp(w->tiles - t, w->chunk);
    int64_t                 in_step = fire_wino_pair_step(w->in_blocks, w->chunk);
    int64_t   sums  = fire_wino_pair_step(w->out_blocks, w->in_step * FIRE_LANES);
    int64_t   begin = w->out_blocks * part / job->parts;
    int64_t   end   = w->out_blocks * (part + 1) / job->parts;
    int64_t   step  = fire_wino_pair_step(end - begin, w->chunk);
    uint16_t *out   = in + TILE * in_step;

    read_inputs(w, row, t, many, job->x, in);
    read_gradients(w, row, t, many, job->dy, begin, end, out);
    for (int64_t s = 0; s < TILE; s++)
        for (int64_t b = begin; b < end; b++)
            sum_pairs(w, many, b, in + s * in_step,
                      out + s * step + (b - begin) * w->chunk * FIRE_LANES,
                      job->sums + (row * TILE + s) * sums);
}

/* Transform the sums of input channel k to taps and add them to dweights. */
FIRE_AVX512_BF16 static void add_taps(const fire_wino_pass_t *w, const float *panel,
                                      int64_t block, int64_t k, float *dweights)
{
    fire_wino_taps_t at    = fire_wino_find_taps(w, false, block, k);
    int64_t          depth = w->in_step * FIRE_LANES;
    int              lanes = fire_wino_lanes(w, block);
    fire_vf_t        y[FIRE_WINO_EDGE][FIRE_WINO_EDGE];

    fire_wino4_output(3, panel + (block * depth + k) * FIRE_LANES,
                      fire_wino_pair_step(w->out_blocks, depth), y);
    for (int j = 0; j < lanes; j++)
        for (int i = 0; i < TAPS * TAPS; i++)
            dweights[at.first + j * at.lane + i] += y[i / TAPS][i % TAPS][j];
}

/* Tiles of a chunk: an even number that does not depend on the number of threads, as it
 * decides the order of the sums. */
static int64_t chunk_of_pairs(const fire_wino_pass_t *w)
{
    enum { CACHE = 3 << 17, LEAST = 96 };
    int64_t tile = TILE * FIRE_PAIR * (w->in_blocks + w->out_blocks);
    int64_t most = CACHE / tile > LEAST ? CACHE / tile / 2 * 2 : LEAST;

    return most < w->tiles ? most : (w->tiles + 1) / 2 * 2;
}

/* There are four rows of points: more threads share the blocks of outputs. */
static int64_t parts_of_outputs(const fire_wino_pass_t *w)
{
    int64_t parts = 1, threads = fire_threads();

    while (parts < w->out_blocks && TILE * parts % threads != 0 && parts < threads)
        parts++;
    return parts;
}

fire_status_t fire_winograd_bf16_weights(const fire_winograd_t *c, const void *x,
                                         const void *dy, float *dweights,
                                         fire_pool_t *pool)
{
    job_t job = {.pass = fire_wino_pass_make(c, false, TILE), .x = x, .dy = dy};
    fire_wino_pass_t *w = &job.pass;
    int64_t           units, threads, sums, each;
    char             *panel;

    w->chunk  = chunk_of_pairs(w);
    job.parts = parts_of_outputs(w);
    units     = TILE * job.parts;
    threads   = fire_threads() < units ? fire_threads() : units;
    sums = TILE * TILE * fire_wino_pair_step(w->out_blocks, w->in_step * FIRE_LANES);
    each =
        TILE * (fire_wino_pair_step(w->in_blocks, w->chunk) +
                fire_wino_pair_step(fire_ceil_div(w->out_blocks, job.parts), w->chunk));
    FIRE_TRY(fire_pool_take(pool,
                            (size_t)sums * sizeof(float) +
                                (size_t)(threads * each) * sizeof(uint16_t),
                            (void **)&panel));
    job.sums = (float *)panel;
    memset(panel, 0, (size_t)sums * sizeof(float));
    FIRE_PARALLEL(i, threads, true)
    for (int64_t t = 0; t < w->tiles; t += w->chunk)
        for (int64_t k = i * units / threads; k < (i + 1) * units / threads; k++)
            sum_row(&job, t, (int)(k / job.parts), k % job.parts,
                    (uint16_t *)(job.sums + sums) + i * each);
    FIRE_PARALLEL(i, w->out_blocks * w->depth, true)
    add_taps(w, job.sums, i / w->depth, i % w->depth, dweights);
    fire_pool_give(pool, panel);
    return FIRE_OK;
}
