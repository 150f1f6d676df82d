#include "device/cpu/winograd.h"

#include "device/cpu/parallel.h"
#include "device/cpu/winograd_bf16.h"
#include "device/cpu/winograd_sums.h"

/* Transformed arrays are panels: (spot, block of 16 channels, row, 16), where a row is a
 * tile or a channel. */
enum { TAPS = 5, SIDE = FIRE_TILE + 1 - TAPS };

bool fire_winograd_works(void)
{
#if defined(__x86_64__) && defined(__GNUC__)
    return __builtin_cpu_supports("avx512f");
#else
    return false;
#endif
}

/* From spot to spot. One vector more than the panel needs: else all spots of a tile
 * would compete for the same lines of the cache. */
static int64_t spot_step(int64_t blocks, int64_t rows)
{
    return (blocks * rows + 1) * FIRE_LANES;
}

static size_t panel_bytes(int64_t blocks, int64_t rows)
{
    return (size_t)(FIRE_SPOTS * spot_step(blocks, rows)) * sizeof(float);
}

/* A chunk's panels should stay in a core's cache, but rows should be many enough to
 * make reading the weights worth it; and threads should have the same number. */
static int64_t chunk_size(const fire_way_t *w)
{
    enum { CACHE = 1 << 20, LEAST = 2 * FIRE_SUM_ROWS };
    int64_t row     = (w->in_blocks + w->out_blocks) * FIRE_SPOTS * FIRE_LANES * 4;
    int64_t most    = CACHE / row > LEAST ? CACHE / row : LEAST;
    int64_t threads = fire_threads(), turns = fire_ceil_div(w->tiles, most * threads);

    return fire_ceil_div(w->tiles, turns * threads);
}

static fire_way_t make_way(const fire_winograd_t *c, bool back)
{
    fire_way_t w = fire_way_make(c, back, FIRE_TILE);

    w.chunk = chunk_size(&w);
    return w;
}

/* ---- tiles ---- */

/* What tiles are read of: inputs, or gradients of outputs, which act as taps on them. */
typedef enum tile_kind { INPUTS, GRADIENTS } tile_kind_t;

/* Tile t of all channels into row `row` of a panel of `rows`. */
FIRE_SIMD void read_channels(fire_dtype_t type, const fire_way_t *w, tile_kind_t kind,
                             int64_t t, const void *x, int64_t row, int64_t rows,
                             float *panel)
{
    const int64_t   *dim    = kind == INPUTS ? w->in : w->out;
    int64_t          blocks = kind == INPUTS ? w->in_blocks : w->out_blocks;
    int64_t          plane = dim[0] * dim[1], step = spot_step(blocks, rows);
    fire_tile_part_t p = kind == INPUTS ? fire_way_input(w, t) : fire_way_output(w, t);

    for (int64_t b = 0; b < blocks; b++, p.corner += plane) {
        float *dst = panel + (b * rows + row) * FIRE_LANES;

        if (kind == INPUTS)
            fire_tile_from_input(type, &p, x, dst, step);
        else
            fire_tile_from_taps(type, SIDE, &p, x, dst, step);
    }
}

#define TILE_PARAMS                                                            \
    (const fire_way_t *w, int64_t t, const void *x, int64_t row, int64_t rows, \
     float *panel)

FIRE_SIMD void input_step(fire_dtype_t type, int lanes, const fire_way_t *w, int64_t t,
                          const void *x, int64_t row, int64_t rows, float *panel)
{
    (void)lanes;
    read_channels(type, w, INPUTS, t, x, row, rows, panel);
}
FIRE_SIMD_KERNEL(read_inputs, input_step, w->dtype, FIRE_LANES, TILE_PARAMS, w, t, x,
                 row, rows, panel)

FIRE_SIMD void gradient_step(fire_dtype_t type, int lanes, const fire_way_t *w,
                             int64_t t, const void *x, int64_t row, int64_t rows,
                             float *panel)
{
    (void)lanes;
    read_channels(type, w, GRADIENTS, t, x, row, rows, panel);
}
FIRE_SIMD_KERNEL(read_gradients, gradient_step, w->dtype, FIRE_LANES, TILE_PARAMS, w, t,
                 x, row, rows, panel)

FIRE_SIMD void write_tile(fire_dtype_t type, const fire_tile_part_t *p,
                          const float *src, int64_t step, fire_vf_t bias, float slope,
                          void *image)
{
    fire_vf_t y[FIRE_SIDE][FIRE_SIDE];

    fire_tile_to_output(SIDE, src, step, y);
    for (int i = 0; i < p->y1; i++)
        for (int j = 0; j < p->x1; j++) {
            fire_vf_t v = y[i][j] + bias;

            if (slope != 1.0f) v = fire_vf_select(v > 0, v, v * slope);
            fire_vf_store(image, type, FIRE_LANES,
                          (p->corner + i * p->width + j) * FIRE_LANES, v);
        }
}

FIRE_SIMD void output_step(fire_dtype_t type, int lanes, const fire_way_t *w, int64_t t,
                           const float *panel, int64_t row, const float *bias,
                           float slope, void *y)
{
    fire_tile_part_t p     = fire_way_output(w, t);
    int64_t          plane = w->out[0] * w->out[1];
    int64_t          step  = spot_step(w->out_blocks, w->chunk);

    (void)lanes;
    for (int64_t b = 0; b < w->out_blocks; b++, p.corner += plane) {
        const float *src  = panel + (b * w->chunk + row) * FIRE_LANES;
        fire_vf_t    more = fire_tile_load(bias + b * FIRE_LANES);

        write_tile(type, &p, src, step, more, slope, y);
    }
}
FIRE_SIMD_KERNEL(write_outputs, output_step, w->dtype, FIRE_LANES,
                 (const fire_way_t *w, int64_t t, const float *panel, int64_t row,
                  const float *bias, float slope, void *y),
                 w, t, panel, row, bias, slope, y)

/* ---- weights ---- */

/* Panel (spot, block of outputs, channel of the group, 16). */
FIRE_AVX512 static void read_taps(const fire_way_t *w, bool back, const float *weights,
                                  int64_t block, int64_t k, float *panel)
{
    fire_tile_part_t all = {.width = TAPS, .y1 = TAPS, .x1 = TAPS};
    float            taps[TAPS * TAPS * FIRE_LANES];

    fire_way_taps(TAPS, w, back, weights, block, k, taps);
    fire_tile_from_taps(FIRE_F32, TAPS, &all, taps,
                        panel + (block * w->depth + k) * FIRE_LANES,
                        spot_step(w->out_blocks, w->depth));
}

static void read_weights(const fire_way_t *w, bool back, const float *weights,
                         float *panel)
{
    FIRE_PARALLEL(i, w->out_blocks * w->depth, true)
    read_taps(w, back, weights, i / w->depth, i % w->depth, panel);
}

/* Add what the sums say to the gradient of the weights. */
FIRE_AVX512 static void add_taps(const fire_way_t *w, const float *panel, int64_t rows,
                                 int64_t block, int64_t k, float *dweights)
{
    fire_taps_at_t at    = fire_way_find_taps(w, false, block, k);
    int            lanes = fire_way_lanes(w, block);
    fire_vf_t      y[FIRE_SIDE][FIRE_SIDE];

    fire_tile_to_output(TAPS, panel + (block * rows + k) * FIRE_LANES,
                        spot_step(w->out_blocks, rows), y);
    for (int j = 0; j < lanes; j++)
        for (int i = 0; i < TAPS * TAPS; i++)
            dweights[at.first + j * at.lane + i] += y[i / TAPS][i % TAPS][j];
}

/* ---- from x to y ---- */

typedef struct job {
    fire_way_t   way;
    const void  *x;
    void        *y;
    const float *weights, *bias; /* weights' panel; bias filled up to whole blocks */
    float        slope;
} job_t;

static void run_chunk(const job_t *job, int64_t first, float *in, float *out)
{
    const fire_way_t *w    = &job->way;
    int64_t           many = fire_within(w->tiles - first, w->chunk);
    int64_t           wide = w->depth * FIRE_LANES, tall = w->chunk * FIRE_LANES;

    for (int64_t t = 0; t < many; t++)
        read_inputs(w, first + t, job->x, t, w->chunk, in);
    for (int64_t s = 0; s < FIRE_SPOTS; s++) {
        const float *a = in + s * spot_step(w->in_blocks, w->chunk);
        const float *b = job->weights + s * spot_step(w->out_blocks, w->depth);
        float       *c = out + s * spot_step(w->out_blocks, w->chunk);

        for (int64_t k = 0; k < w->out_blocks; k++)
            fire_sum_panel(many, w->depth, a + k / w->out_step * w->in_step * tall,
                           tall, b + k * wide, c + k * tall);
    }
    for (int64_t t = 0; t < many; t++)
        write_outputs(w, first + t, out, t, job->bias, job->slope, job->y);
}

/* scratch: of all threads */
static void run_chunks(const job_t *job, int64_t threads, float *scratch)
{
    const fire_way_t *w = &job->way;
    int64_t in  = (int64_t)(panel_bytes(w->in_blocks, w->chunk) / sizeof(float));
    int64_t out = (int64_t)(panel_bytes(w->out_blocks, w->chunk) / sizeof(float));

    FIRE_PARALLEL(i, threads, true)
    for (int64_t t = i * w->chunk; t < w->tiles; t += threads * w->chunk)
        run_chunk(job, t, scratch + i * (in + out), scratch + i * (in + out) + in);
}

static fire_status_t run(const fire_winograd_t *c, bool back, const float *weights,
                         const float *bias, job_t *job, fire_pool_t *pool)
{
    fire_way_t *w       = &job->way;
    int64_t     threads = fire_threads();
    size_t      fixed, moving, ends;
    float      *panel;

    *w     = make_way(c, back);
    fixed  = panel_bytes(w->out_blocks, w->depth);
    ends   = (size_t)(w->out_blocks * FIRE_LANES) * sizeof(float);
    moving = panel_bytes(w->in_blocks, w->chunk) + panel_bytes(w->out_blocks, w->chunk);
    FIRE_TRY(
        fire_pool_take(pool, fixed + ends + (size_t)threads * moving, (void **)&panel));
    job->weights = panel;
    job->bias    = (float *)((char *)panel + fixed);
    memset((char *)panel + fixed, 0, ends);
    if (bias != NULL)
        memcpy((char *)panel + fixed, bias, (size_t)w->out_channels * sizeof(*bias));
    read_weights(w, back, weights, panel);
    run_chunks(job, threads, (float *)((char *)panel + fixed + ends));
    fire_pool_give(pool, panel);
    return FIRE_OK;
}

fire_status_t fire_winograd_forward(const fire_winograd_t *c, const void *x,
                                    const float *weights, const float *bias,
                                    float slope, void *y, fire_pool_t *pool)
{
    job_t job = {.x = x, .slope = slope, .y = y};

    if (c->taps == 3)
        return fire_winograd_bf16_run(c, false, x, weights, bias, slope, y, pool);
    return run(c, false, weights, bias, &job, pool);
}

fire_status_t fire_winograd_backward_data(const fire_winograd_t *c, const void *dy,
                                          const float *weights, void *dx,
                                          fire_pool_t *pool)
{
    job_t job = {.x = dy, .slope = 1.0f, .y = dx};

    if (c->taps == 3)
        return fire_winograd_bf16_run(c, true, dy, weights, NULL, 1.0f, dx, pool);
    return run(c, true, weights, NULL, &job, pool);
}

/* ---- gradient of the weights ---- */

/* sums += inputs' gradients, for one spot and all pairs of channels */
static void sum_spot(const fire_way_t *w, int64_t many, int64_t rows, const float *in,
                     const float *out, float *sums)
{
    int64_t tall = w->chunk * FIRE_LANES;

    for (int64_t b = 0; b < w->out_blocks; b++)
        for (int64_t k = 0; k < w->in_step; k++)
            fire_sum_block(w->depth - k * FIRE_LANES, many,
                           in + (b / w->out_step * w->in_step + k) * tall,
                           out + b * tall,
                           sums + (b * rows + k * FIRE_LANES) * FIRE_LANES);
}

static void sum_chunk(const fire_way_t *w, int64_t first, const void *x, const void *dy,
                      float *in, float *out, float *sums)
{
    int64_t many = fire_within(w->tiles - first, w->chunk);
    int64_t rows = w->in_step * FIRE_LANES;

    FIRE_PARALLEL(t, many, true)
    {
        read_inputs(w, first + t, x, t, w->chunk, in);
        read_gradients(w, first + t, dy, t, w->chunk, out);
    }
    FIRE_PARALLEL(s, FIRE_SPOTS, true)
    sum_spot(w, many, rows, in + s * spot_step(w->in_blocks, w->chunk),
             out + s * spot_step(w->out_blocks, w->chunk),
             sums + s * spot_step(w->out_blocks, rows));
}

fire_status_t fire_winograd_backward_weights(const fire_winograd_t *c, const void *x,
                                             const void *dy, float *dweights,
                                             fire_pool_t *pool)
{
    fire_way_t w    = make_way(c, false);
    int64_t    rows = w.in_step * FIRE_LANES;
    size_t     sums = panel_bytes(w.out_blocks, rows);
    size_t     in   = panel_bytes(w.in_blocks, w.chunk);
    char      *panel;

    if (c->taps == 3) return fire_winograd_bf16_weights(c, x, dy, dweights, pool);
    FIRE_TRY(fire_pool_take(pool, sums + in + panel_bytes(w.out_blocks, w.chunk),
                            (void **)&panel));
    memset(panel, 0, sums);
    for (int64_t t = 0; t < w.tiles; t += w.chunk)
        sum_chunk(&w, t, x, dy, (float *)(panel + sums), (float *)(panel + sums + in),
                  (float *)panel);
    FIRE_PARALLEL(i, w.out_blocks * w.depth, true)
    add_taps(&w, (const float *)panel, rows, i / w.depth, i % w.depth, dweights);
    fire_pool_give(pool, panel);
    return FIRE_OK;
}
