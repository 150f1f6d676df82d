#include "device/cpu/winograd_bf16.h"

#include "device/cpu/parallel.h"
#include "device/cpu/winograd_dots.h"
#include "device/cpu/winograd_small.h"

enum { TILE = FIRE_SMALL_TILE, SPOTS = FIRE_SMALL_SPOTS, SIDE = FIRE_SMALL_SIDE };

bool fire_winograd_works_bf16(void)
{
    return fire_cpu_rounds();
}

/* From spot to spot of a panel (spot, block of 16 channels, row, 16): one vector more
 * than it needs, else spots would compete for the same lines of the cache. */
static int64_t spot_step(int64_t blocks, int64_t rows)
{
    return (blocks * rows + 2) * FIRE_LANES;
}

static size_t panel_bytes(int64_t blocks, int64_t rows, size_t element)
{
    return (size_t)(SPOTS * spot_step(blocks, rows)) * element;
}

/* ---- transforms ---- */

FIRE_SIMD bool is_inside(const fire_tile_part_t *p, int n)
{
    return p->y0 == 0 && p->x0 == 0 && p->y1 == n && p->x1 == n;
}

/* Tile t of all channels into row `row` of a panel of w->chunk rows. */
FIRE_AVX512_BF16 static void read_tile(const fire_way_t *w, int64_t t,
                                       const uint16_t *x, int64_t row, uint16_t *panel)
{
    fire_tile_part_t p     = fire_way_input(w, t);
    int64_t          plane = w->in[0] * w->in[1];
    int64_t          step  = spot_step(w->in_blocks, w->chunk);
    bool             whole = is_inside(&p, TILE);
    fire_vf_t        spot[SPOTS];

    for (int64_t b = 0; b < w->in_blocks; b++, p.corner += plane) {
        uint16_t *dst = panel + (b * w->chunk + row) * FIRE_LANES;

        if (whole)
            fire_small_from_input(FIRE_BF16_CPU, true, &p, x, spot);
        else
            fire_small_from_input(FIRE_BF16_CPU, false, &p, x, spot);
        for (int i = 0; i < SPOTS; i++)
            fire_vf_store(dst, FIRE_BF16_CPU, FIRE_LANES, i * step, spot[i]);
    }
}

/* A block of channels of `many` tiles from `first` on. */
FIRE_AVX512_BF16 static void write_tiles(const fire_way_t *w, int64_t first,
                                         int64_t many, int64_t block, const float *src,
                                         const float *bias, float slope, uint16_t *y)
{
    int64_t   plane = w->out[0] * w->out[1], step = spot_step(1, w->chunk);
    fire_vf_t more, out[FIRE_SIDE][FIRE_SIDE];

    memcpy(&more, bias + block * FIRE_LANES, sizeof(more));
    for (int64_t t = 0; t < many; t++, src += FIRE_LANES) {
        fire_tile_part_t p = fire_way_output(w, first + t);

        p.corner += block * plane;
        fire_small_to_output(2, src, step, out);
        for (int i = 0; i < p.y1; i++)
            for (int j = 0; j < p.x1; j++) {
                fire_vf_t v = out[i][j] + more;

                if (slope != 1.0f) v = fire_vf_select(v > 0, v, v * slope);
                fire_vf_store(y, FIRE_BF16_CPU, FIRE_LANES,
                              (p.corner + i * p.width + j) * FIRE_LANES, v);
            }
    }
}

/* Rows of numbers become rows of pairs. */
FIRE_SIMD void store_pairs(const fire_vf_t *even, const fire_vf_t *odd, int64_t step,
                           uint16_t *dst)
{
    for (int i = 0; i < SPOTS; i++) {
        fire_vu_t low  = __builtin_convertvector(fire_vh_cpu(even[i]), fire_vu_t);
        fire_vu_t high = __builtin_convertvector(fire_vh_cpu(odd[i]), fire_vu_t);
        fire_vu_t pair = low | (high << 16);

        memcpy(dst + i * step, &pair, sizeof(pair));
    }
}

/* ---- weights ---- */

/* Panel (spot, block of outputs, pair of channels of the group, 16, 2). */
FIRE_AVX512_BF16 static void read_taps(const fire_way_t *w, bool back,
                                       const float *weights, int64_t block, int64_t k,
                                       uint16_t *panel)
{
    int64_t          depth = w->in_step * FIRE_LANES;
    fire_tile_part_t all   = {.width = SIDE, .y1 = SIDE, .x1 = SIDE};
    float            taps[SIDE * SIDE * FIRE_LANES];
    fire_vf_t        spot[2][SPOTS];

    for (int i = 0; i < 2; i++) {
        fire_way_taps(SIDE, w, back, weights, block, k + i, taps);
        fire_small_from_taps(FIRE_F32, SIDE, &all, taps, spot[i]);
    }
    store_pairs(spot[0], spot[1], spot_step(w->out_blocks, depth),
                panel + (block * depth + k) * FIRE_LANES);
}

static void read_weights(const fire_way_t *w, bool back, const float *weights,
                         uint16_t *panel)
{
    int64_t pairs = w->in_step * FIRE_LANES / 2;

    FIRE_PARALLEL(i, w->out_blocks * pairs, true)
    read_taps(w, back, weights, i / pairs, i % pairs * 2, panel);
}

/* ---- from x to y ---- */

typedef struct job {
    fire_way_t      way;
    const uint16_t *x, *weights; /* weights: panel */
    uint16_t       *y;
    const float    *bias; /* filled up to whole blocks */
    float           slope;
} job_t;

/* A chunk's inputs should stay in a core's cache, but rows should be many enough to make
 * reading the weights worth it; and threads should have about the same number. */
static int64_t chunk_of_tiles(const fire_way_t *w)
{
    enum { CACHE = 1 << 19, LEAST = 4 * FIRE_DOT_ROWS };
    int64_t row   = SPOTS * FIRE_LANES * (w->in_blocks * 2 + 4);
    int64_t most  = CACHE / row > LEAST ? CACHE / row : LEAST;
    int64_t turns = fire_ceil_div(w->tiles, most * fire_threads()) * fire_threads();

    return fire_ceil_div(fire_ceil_div(w->tiles, turns), FIRE_DOT_ROWS) * FIRE_DOT_ROWS;
}

static void run_chunk(const job_t *job, int64_t first, uint16_t *in, float *out)
{
    const fire_way_t *w    = &job->way;
    int64_t           many = fire_within(w->tiles - first, w->chunk);
    int64_t wide = w->in_step * FIRE_LANES * FIRE_LANES, tall = w->chunk * FIRE_LANES;

    for (int64_t t = 0; t < many; t++)
        read_tile(w, first + t, job->x, t, in);
    for (int64_t k = 0; k < w->out_blocks; k++) {
        for (int64_t s = 0; s < SPOTS; s++)
            fire_dot_panel(many, w->in_step,
                           in + s * spot_step(w->in_blocks, w->chunk) +
                               k / w->out_step * w->in_step * tall,
                           tall,
                           job->weights +
                               s * spot_step(w->out_blocks, w->in_step * FIRE_LANES) +
                               k * wide,
                           out + s * spot_step(1, w->chunk));
        write_tiles(w, first, many, k, out, job->bias, job->slope, job->y);
    }
}

/* scratch: of all threads, `each` bytes, the inputs' panel first */
static void run_chunks(const job_t *job, int64_t threads, size_t inputs, size_t each,
                       char *scratch)
{
    const fire_way_t *w = &job->way;

    FIRE_PARALLEL(i, threads, true)
    for (int64_t t = i * w->chunk; t < w->tiles; t += threads * w->chunk)
        run_chunk(job, t, (uint16_t *)(scratch + (size_t)i * each),
                  (float *)(scratch + (size_t)i * each + inputs));
}

fire_status_t fire_winograd_bf16_run(const fire_winograd_t *c, bool back, const void *x,
                                     const float *weights, const float *bias,
                                     float slope, void *y, fire_pool_t *pool)
{
    job_t       job     = {.way = fire_way_make(c, back, TILE), .slope = slope};
    fire_way_t *w       = &job.way;
    int64_t     threads = fire_threads();
    size_t      fixed   = panel_bytes(w->out_blocks, w->in_step * FIRE_LANES, 2);
    size_t      ends    = (size_t)(w->out_blocks * FIRE_LANES) * sizeof(float);
    size_t      in, each;
    char       *panel;

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

/* ---- gradient of the weights ---- */

/* Tiles t and t + 1 of the inputs into row t of a panel of pairs; zeros behind the last. */
FIRE_AVX512_BF16 static void read_inputs(const fire_way_t *w, int64_t t, int64_t row,
                                         const uint16_t *x, uint16_t *panel)
{
    int64_t          plane = w->in[0] * w->in[1];
    int64_t          step  = spot_step(w->in_blocks, w->chunk);
    fire_tile_part_t p[2]  = {fire_way_input(w, t), fire_way_input(w, t + 1)};
    bool             whole = is_inside(&p[0], TILE) && is_inside(&p[1], TILE);
    fire_vf_t        spot[2][SPOTS];

    if (t + 1 == w->tiles) p[1].y1 = 0;
    for (int64_t b = 0; b < w->in_blocks; b++) {
        for (int i = 0; i < 2; i++) {
            if (whole)
                fire_small_from_input(FIRE_BF16_CPU, true, &p[i], x, spot[i]);
            else
                fire_small_from_input(FIRE_BF16_CPU, false, &p[i], x, spot[i]);
            p[i].corner += plane;
        }
        store_pairs(spot[0], spot[1], step, panel + (b * w->chunk + row) * FIRE_LANES);
    }
}

/* The same of the outputs' gradients, which act as taps on the inputs. */
FIRE_AVX512_BF16 static void read_gradients(const fire_way_t *w, int64_t t, int64_t row,
                                            const uint16_t *dy, uint16_t *panel)
{
    int64_t          plane = w->out[0] * w->out[1];
    int64_t          step  = spot_step(w->out_blocks, w->chunk);
    fire_tile_part_t p[2]  = {fire_way_output(w, t), fire_way_output(w, t + 1)};
    fire_vf_t        spot[2][SPOTS];

    if (t + 1 == w->tiles) p[1].y1 = 0;
    for (int64_t b = 0; b < w->out_blocks; b++) {
        for (int i = 0; i < 2; i++) {
            fire_small_from_taps(FIRE_BF16_CPU, 2, &p[i], dy, spot[i]);
            p[i].corner += plane;
        }
        store_pairs(spot[0], spot[1], step, panel + (b * w->chunk + row) * FIRE_LANES);
    }
}

/* sums += inputs' gradients, for one spot and one block of outputs */
static void sum_pairs(const fire_way_t *w, int64_t many, int64_t block,
                      const uint16_t *in, const uint16_t *out, float *sums)
{
    int64_t tall = w->chunk * FIRE_LANES;

    in += block / w->out_step * w->in_step * tall;
    for (int64_t k = 0; k < w->in_step; k++)
        fire_dot_block((many + 1) / 2, in + k * tall, out + block * tall,
                       sums + (block * w->in_step + k) * FIRE_LANES * FIRE_LANES);
}

static void sum_chunk(const fire_way_t *w, int64_t first, const uint16_t *x,
                      const uint16_t *dy, uint16_t *in, uint16_t *out, float *sums)
{
    int64_t many = fire_within(w->tiles - first, w->chunk);

    FIRE_PARALLEL(i, (many + 1) / 2, true)
    {
        read_inputs(w, first + 2 * i, 2 * i, x, in);
        read_gradients(w, first + 2 * i, 2 * i, dy, out);
    }
    FIRE_PARALLEL(i, SPOTS * w->out_blocks, true)
    {
        int64_t s = i / w->out_blocks;

        sum_pairs(w, many, i % w->out_blocks,
                  in + s * spot_step(w->in_blocks, w->chunk),
                  out + s * spot_step(w->out_blocks, w->chunk),
                  sums + s * spot_step(w->out_blocks, w->in_step * FIRE_LANES));
    }
}

/* Add what the sums say to the gradient of the weights. */
FIRE_AVX512_BF16 static void add_taps(const fire_way_t *w, const float *panel,
                                      int64_t block, int64_t k, float *dweights)
{
    fire_taps_at_t at    = fire_way_find_taps(w, false, block, k);
    int64_t        depth = w->in_step * FIRE_LANES;
    int            lanes = fire_way_lanes(w, block);
    fire_vf_t      y[FIRE_SIDE][FIRE_SIDE];

    fire_small_to_output(3, panel + (block * depth + k) * FIRE_LANES,
                         spot_step(w->out_blocks, depth), y);
    for (int j = 0; j < lanes; j++)
        for (int i = 0; i < SIDE * SIDE; i++)
            dweights[at.first + j * at.lane + i] += y[i / SIDE][i % SIDE][j];
}

/* An even number, whatever the number of threads: sums are read and written again for
 * each chunk. */
static int64_t chunk_of_pairs(const fire_way_t *w)
{
    enum { CACHE = 1 << 20, LEAST = 256 };
    int64_t most = CACHE / (SPOTS * FIRE_PAIR * (w->in_blocks + w->out_blocks));

    most = most > LEAST ? most / 2 * 2 : LEAST;
    return most < w->tiles ? most : (w->tiles + 1) / 2 * 2;
}

fire_status_t fire_winograd_bf16_weights(const fire_winograd_t *c, const void *x,
                                         const void *dy, float *dweights,
                                         fire_pool_t *pool)
{
    fire_way_t w = fire_way_make(c, false, TILE);
    size_t     sums, in;
    char      *panel;

    w.chunk = chunk_of_pairs(&w);
    sums    = panel_bytes(w.out_blocks, w.in_step * FIRE_LANES, sizeof(float));
    in      = panel_bytes(w.in_blocks, w.chunk, sizeof(uint16_t));
    FIRE_TRY(fire_pool_take(
        pool, sums + in + panel_bytes(w.out_blocks, w.chunk, sizeof(uint16_t)),
        (void **)&panel));
    memset(panel, 0, sums);
    for (int64_t t = 0; t < w.tiles; t += w.chunk)
        sum_chunk(&w, t, x, dy, (uint16_t *)(panel + sums),
                  (uint16_t *)(panel + sums + in), (float *)panel);
    FIRE_PARALLEL(i, w.out_blocks * w.depth, true)
    add_taps(&w, (const float *)panel, i / w.depth, i % w.depth, dweights);
    fire_pool_give(pool, panel);
    return FIRE_OK;
}
