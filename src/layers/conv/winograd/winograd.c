#include "layers/conv/winograd/winograd.h"

#include "device/cpu/parallel.h"
#include "layers/conv/winograd/bf16.h"
#include "layers/conv/winograd/transform4.h"
#include "layers/conv/winograd/multiply.h"

bool fire_winograd_works(void)
{
#if defined(__x86_64__) && defined(__GNUC__)
    return __builtin_cpu_supports("avx512f");
#else
    return false;
#endif
}

/* Of 3x3 taps large tiles save more products, but on small maps most of them would
 * overhang. 5x5 taps have no choice. */
static int tile_of(const fire_winograd_t *c)
{
    enum { SMALL_MAP = 28 };
    bool small = c->out[0] < SMALL_MAP || c->out[1] < SMALL_MAP;

    return c->taps == 3 && small ? FIRE_WINO_SMALL : FIRE_WINO_LARGE;
}

static int64_t points_of(const fire_wino_pass_t *w)
{
    return w->tile * w->tile;
}

static size_t panel_bytes(const fire_wino_pass_t *w, size_t real, int64_t blocks,
                          int64_t rows)
{
    return (size_t)(points_of(w) * fire_wino_point_step(blocks, rows)) * real;
}

/* A chunk's inputs should stay in a core's cache, but rows should be many enough to make
 * reading the weights worth it; and threads should have about the same number. */
static int64_t chunk_of_tiles(const fire_wino_pass_t *w, size_t real)
{
    enum { CACHE = 1 << 19, LEAST = 4 * FIRE_WINO_ROWS };
    int64_t row     = (w->in_blocks + 1) * points_of(w) * FIRE_LANES * (int64_t)real;
    int64_t most    = CACHE / row > LEAST ? CACHE / row : LEAST;
    int64_t threads = fire_threads(), turns = fire_ceil_div(w->tiles, most * threads);

    return fire_ceil_div(w->tiles, turns * threads);
}

/* ---- tiles ---- */

FIRE_SIMD void store_points(const fire_vf_t *point, float *dst, int64_t step)
{
    for (int i = 0; i < FIRE_WINO_SMALL_POINTS; i++)
        fire_reals_store(dst + i * step, point[i]);
}

/* The transforms of all pairs of tile and taps, or outputs, that there are. */
FIRE_SIMD void input_tile(fire_dtype_t type, int tile, const fire_wino_tile_t *p,
                          const void *x, float *dst, int64_t step)
{
    if (tile == FIRE_WINO_LARGE)
        fire_wino8_input(type, p, x, dst, step);
    else {
        fire_vf_t point[FIRE_WINO_SMALL_POINTS];

        fire_wino4_input(type, false, p, x, point);
        store_points(point, dst, step);
    }
}

FIRE_SIMD void taps_tile(fire_dtype_t type, int tile, int n, const fire_wino_tile_t *p,
                         const void *x, float *dst, int64_t step)
{
    fire_vf_t point[FIRE_WINO_SMALL_POINTS];

    if (tile == FIRE_WINO_SMALL) {
        if (n == 2)
            fire_wino4_taps(type, 2, p, x, point);
        else
            fire_wino4_taps(type, 3, p, x, point);
        store_points(point, dst, step);
    } else if (n == 3)
        fire_wino8_taps(type, 3, p, x, dst, step);
    else if (n == 4)
        fire_wino8_taps(type, 4, p, x, dst, step);
    else if (n == 5)
        fire_wino8_taps(type, 5, p, x, dst, step);
    else
        fire_wino8_taps(type, 6, p, x, dst, step);
}

FIRE_SIMD void output_tile(int tile, int n, const float *src, int64_t step,
                           fire_vf_t (*y)[FIRE_WINO_EDGE])
{
    if (tile == FIRE_WINO_SMALL && n == 2)
        fire_wino4_output(2, src, step, y);
    else if (tile == FIRE_WINO_SMALL)
        fire_wino4_output(3, src, step, y);
    else if (n == 3)
        fire_wino8_output(3, src, step, y);
    else if (n == 4)
        fire_wino8_output(4, src, step, y);
    else if (n == 5)
        fire_wino8_output(5, src, step, y);
    else
        fire_wino8_output(6, src, step, y);
}

/* What tiles are read of: inputs, or gradients of outputs, which act as taps on them. */
typedef enum tile_kind { INPUTS, GRADIENTS } tile_kind_t;

/* Tile t of all channels into row `row` of a panel of `rows`. */
FIRE_SIMD void read_channels(fire_dtype_t type, const fire_wino_pass_t *w,
                             tile_kind_t kind, int64_t t, const void *x, int64_t row,
                             int64_t rows, float *panel)
{
    const int64_t   *dim    = kind == INPUTS ? w->in : w->out;
    int64_t          blocks = kind == INPUTS ? w->in_blocks : w->out_blocks;
    int64_t          plane = dim[0] * dim[1], step = fire_wino_point_step(blocks, rows);
    fire_wino_tile_t p =
        kind == INPUTS ? fire_wino_input_tile(w, t) : fire_wino_output_tile(w, t);

    for (int64_t b = 0; b < blocks; b++, p.corner += plane) {
        float *dst = panel + (b * rows + row) * FIRE_LANES;

        if (kind == INPUTS)
            input_tile(type, w->tile, &p, x, dst, step);
        else
            taps_tile(type, w->tile, w->outputs, &p, x, dst, step);
    }
}

#define TILE_PARAMS                                                                  \
    (const fire_wino_pass_t *w, int64_t t, const void *x, int64_t row, int64_t rows, \
     void *panel)

FIRE_SIMD void input_step(fire_dtype_t type, int lanes, const fire_wino_pass_t *w,
                          int64_t t, const void *x, int64_t row, int64_t rows,
                          float *panel)
{
    (void)lanes;
    read_channels(type, w, INPUTS, t, x, row, rows, panel);
}
FIRE_SIMD_KERNEL(read_inputs, read_inputs_any, read_inputs_bf16, input_step, w->dtype,
                 FIRE_LANES, TILE_PARAMS, w, t, x, row, rows, panel)

FIRE_SIMD void gradient_step(fire_dtype_t type, int lanes, const fire_wino_pass_t *w,
                             int64_t t, const void *x, int64_t row, int64_t rows,
                             float *panel)
{
    (void)lanes;
    read_channels(type, w, GRADIENTS, t, x, row, rows, panel);
}
FIRE_SIMD_KERNEL(read_gradients, read_gradients_any, read_gradients_bf16, gradient_step,
                 w->dtype, FIRE_LANES, TILE_PARAMS, w, t, x, row, rows, panel)

/* A block of channels of tile t. */
FIRE_SIMD void output_step(fire_dtype_t type, int lanes, const fire_wino_pass_t *w,
                           int64_t t, int64_t block, const void *src, const float *bias,
                           float slope, void *y)
{
    fire_wino_tile_t p    = fire_wino_output_tile(w, t);
    fire_vf_t        more = fire_reals_load(bias + block * FIRE_LANES);
    fire_vf_t        out[FIRE_WINO_EDGE][FIRE_WINO_EDGE];

    (void)lanes;
    p.corner += block * w->out[0] * w->out[1];
    output_tile(w->tile, w->outputs, src, fire_wino_point_step(1, w->chunk), out);
    for (int i = 0; i < p.y1; i++)
        for (int j = 0; j < p.x1; j++) {
            fire_vf_t v = out[i][j] + more;

            if (slope != 1.0f) v = fire_vf_select(v > 0, v, v * slope);
            fire_vf_store(y, type, FIRE_LANES,
                          (p.corner + i * p.width + j) * FIRE_LANES, v);
        }
}
FIRE_SIMD_KERNEL(write_output, write_output_any, write_output_bf16, output_step,
                 w->dtype, FIRE_LANES,
                 (const fire_wino_pass_t *w, int64_t t, int64_t block, const void *src,
                  const float *bias, float slope, void *y),
                 w, t, block, src, bias, slope, y)

/* ---- weights ---- */

FIRE_AVX512 static void read_taps(const fire_wino_pass_t *w, bool back,
                                  const float *weights, int64_t block, int64_t k,
                                  void *panel)
{
    fire_wino_tile_t all = {.width = w->taps, .y1 = w->taps, .x1 = w->taps};
    float            taps[5 * 5 * FIRE_LANES];

    if (w->taps == 3)
        fire_wino_gather_taps(3, w, back, weights, block, k, taps);
    else
        fire_wino_gather_taps(5, w, back, weights, block, k, taps);
    taps_tile(FIRE_F32, w->tile, w->taps, &all, taps,
              (float *)panel + (block * w->depth + k) * FIRE_LANES,
              fire_wino_point_step(w->out_blocks, w->depth));
}

/* Add what the sums say to the gradient of the weights. */
FIRE_AVX512 static void add_taps(const fire_wino_pass_t *w, const float *panel,
                                 int64_t rows, int64_t block, int64_t k,
                                 float *dweights)
{
    fire_wino_taps_t at    = fire_wino_find_taps(w, false, block, k);
    int              lanes = fire_wino_lanes(w, block);
    fire_vf_t        y[FIRE_WINO_EDGE][FIRE_WINO_EDGE];

    output_tile(w->tile, w->taps, panel + (block * rows + k) * FIRE_LANES,
                fire_wino_point_step(w->out_blocks, rows), y);
    for (int j = 0; j < lanes; j++)
        for (int i = 0; i < w->taps * w->taps; i++)
            dweights[at.first + j * at.lane + i] += y[i / w->taps][i % w->taps][j];
}

/* ---- from x to y ---- */

static bool uses_bf16(const fire_winograd_t *c)
{
    return c->taps == 3 && c->dtype == FIRE_BF16;
}

static void multiply(int64_t rows, int64_t depth, const void *a, int64_t a_block,
                     const void *b, void *c)
{
    fire_wino_multiply(rows, depth, a, a_block, b, c);
}

static const fire_wino_steps_t fire_wino_f32 = {
    .real         = sizeof(float),
    .read_input   = read_inputs,
    .read_taps    = read_taps,
    .multiply     = multiply,
    .write_output = write_output,
};

static const fire_wino_steps_t *steps_of(const fire_winograd_t *c, bool back)
{
    return c->wide && c->taps == 5 && c->dtype == FIRE_F32 && !back ? &fire_wino_f64
                                                                    : &fire_wino_f32;
}

typedef struct job {
    const fire_wino_steps_t *steps;
    fire_wino_pass_t         pass;
    const void              *x;
    void                    *y;
    const char              *weights; /* their panel */
    const float             *bias;    /* filled up to whole blocks */
    float                    slope;
} job_t;

static void run_chunk(const job_t *job, int64_t first, char *in, char *out)
{
    const fire_wino_steps_t *steps = job->steps;
    const fire_wino_pass_t  *w     = &job->pass;
    int64_t                  many  = fire_wino_clamp(w->tiles - first, w->chunk);
    size_t real = steps->real, row = FIRE_LANES * real, tall = (size_t)w->chunk * row;
    size_t a_step = (size_t)fire_wino_point_step(w->in_blocks, w->chunk) * real;
    size_t b_step = (size_t)fire_wino_point_step(w->out_blocks, w->depth) * real;
    size_t c_step = (size_t)fire_wino_point_step(1, w->chunk) * real;

    for (int64_t t = 0; t < many; t++)
        steps->read_input(w, first + t, job->x, t, w->chunk, in);
    for (int64_t k = 0; k < w->out_blocks; k++) {
        const char *a = in + (size_t)(k / w->out_step * w->in_step) * tall;
        const char *b = job->weights + (size_t)(k * w->depth) * row;

        for (int64_t s = 0; s < points_of(w); s++, a += a_step, b += b_step)
            steps->multiply(many, w->depth, a, w->chunk * FIRE_LANES, b,
                            out + (size_t)s * c_step);
        for (int64_t t = 0; t < many; t++)
            steps->write_output(w, first + t, k, out + (size_t)t * row, job->bias,
                                job->slope, job->y);
    }
}

/* scratch: of all threads */
static void run_chunks(const job_t *job, int64_t threads, char *scratch)
{
    const fire_wino_pass_t *w = &job->pass;
    size_t in  = panel_bytes(w, job->steps->real, w->in_blocks, w->chunk);
    size_t out = panel_bytes(w, job->steps->real, 1, w->chunk);

    FIRE_PARALLEL(i, threads, true)
    for (int64_t t = i * w->chunk; t < w->tiles; t += threads * w->chunk)
        run_chunk(job, t, scratch + (size_t)i * (in + out),
                  scratch + (size_t)i * (in + out) + in);
}

static fire_status_t run(const fire_winograd_t *c, bool back, const float *weights,
                         const float *bias, job_t *job, fire_pool_t *pool)
{
    const fire_wino_steps_t *steps   = steps_of(c, back);
    fire_wino_pass_t        *w       = &job->pass;
    int64_t                  threads = fire_threads();
    size_t                   fixed, moving, ends;
    char                    *panel;

    *w       = fire_wino_pass_make(c, back, tile_of(c));
    w->chunk = chunk_of_tiles(w, steps->real);
    fixed    = panel_bytes(w, steps->real, w->out_blocks, w->depth);
    ends     = (size_t)(w->out_blocks * FIRE_LANES) * sizeof(float);
    moving   = panel_bytes(w, steps->real, w->in_blocks, w->chunk) +
             panel_bytes(w, steps->real, 1, w->chunk);
    FIRE_TRY(
        fire_pool_take(pool, fixed + ends + (size_t)threads * moving, (void **)&panel));
    job->steps   = steps;
    job->weights = panel;
    job->bias    = (float *)(panel + fixed);
    memset(panel + fixed, 0, ends);
    if (bias != NULL)
        memcpy(panel + fixed, bias, (size_t)w->out_channels * sizeof(*bias));
    FIRE_PARALLEL(i, w->out_blocks * w->depth, true)
    steps->read_taps(w, back, weights, i / w->depth, i % w->depth, panel);
    run_chunks(job, threads, panel + fixed + ends);
    fire_pool_give(pool, panel);
    return FIRE_OK;
}

fire_status_t fire_winograd_forward(const fire_winograd_t *c, const void *x,
                                    const float *weights, const float *bias,
                                    float slope, void *y, fire_pool_t *pool)
{
    job_t job = {.x = x, .slope = slope, .y = y};

    if (uses_bf16(c))
        return fire_winograd_bf16_run(c, false, x, weights, bias, slope, y, pool);
    return run(c, false, weights, bias, &job, pool);
}

fire_status_t fire_winograd_backward_data(const fire_winograd_t *c, const void *dy,
                                          const float *weights, void *dx,
                                          fire_pool_t *pool)
{
    job_t job = {.x = dy, .slope = 1.0f, .y = dx};

    if (uses_bf16(c))
        return fire_winograd_bf16_run(c, true, dy, weights, NULL, 1.0f, dx, pool);
    return run(c, true, weights, NULL, &job, pool);
}

/* ---- gradient of the weights ---- */

/* sums += inputs' gradients, for one point and all pairs of channels */
static void sum_spot(const fire_wino_pass_t *w, int64_t many, int64_t rows,
                     const float *in, const float *out, float *sums)
{
    int64_t tall = w->chunk * FIRE_LANES;

    for (int64_t b = 0; b < w->out_blocks; b++)
        for (int64_t k = 0; k < w->in_step; k++)
            fire_wino_add_products(w->depth - k * FIRE_LANES, many,
                                   in + (b / w->out_step * w->in_step + k) * tall,
                                   out + b * tall,
                                   sums + (b * rows + k * FIRE_LANES) * FIRE_LANES);
}

static void sum_chunk(const fire_wino_pass_t *w, int64_t first, const void *x,
                      const void *dy, float *in, float *out, float *sums)
{
    int64_t many = fire_wino_clamp(w->tiles - first, w->chunk);
    int64_t rows = w->in_step * FIRE_LANES;

    FIRE_PARALLEL(t, many, true)
    {
        read_inputs(w, first + t, x, t, w->chunk, in);
        read_gradients(w, first + t, dy, t, w->chunk, out);
    }
    FIRE_PARALLEL(s, points_of(w), true)
    sum_spot(w, many, rows, in + s * fire_wino_point_step(w->in_blocks, w->chunk),
             out + s * fire_wino_point_step(w->out_blocks, w->chunk),
             sums + s * fire_wino_point_step(w->out_blocks, rows));
}

/* Sums are read and written again for each chunk. */
static int64_t chunk_of_sums(const fire_wino_pass_t *w)
{
    enum { CACHE = 1 << 21, LEAST = 128 };
    int64_t row  = (w->in_blocks + w->out_blocks) * points_of(w) * FIRE_LANES * 4;
    int64_t most = CACHE / row > LEAST ? CACHE / row : LEAST;

    return most < w->tiles ? most : w->tiles;
}

fire_status_t fire_winograd_backward_weights(const fire_winograd_t *c, const void *x,
                                             const void *dy, float *dweights,
                                             fire_pool_t *pool)
{
    fire_wino_pass_t w    = fire_wino_pass_make(c, false, tile_of(c));
    int64_t          rows = w.in_step * FIRE_LANES;
    size_t           sums, in;
    char            *panel;

    if (uses_bf16(c)) return fire_winograd_bf16_weights(c, x, dy, dweights, pool);
    w.chunk = chunk_of_sums(&w);
    sums    = panel_bytes(&w, sizeof(float), w.out_blocks, rows);
    in      = panel_bytes(&w, sizeof(float), w.in_blocks, w.chunk);
    FIRE_TRY(fire_pool_take(
        pool, sums + in + panel_bytes(&w, sizeof(float), w.out_blocks, w.chunk),
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
