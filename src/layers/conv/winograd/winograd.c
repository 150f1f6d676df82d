/* winograd.c - chooses the size of tiles and runs a pass in chunks: transform a chunk
 * of input tiles, multiply by the transformed weights, transform the products to
 * outputs. Each thread does whole chunks with panels of its own; the weights are
 * transformed once. */
#include "layers/conv/winograd/winograd.h"

#include "device/cpu/parallel.h"
#include "layers/conv/winograd/bf16.h"
#include "layers/conv/winograd/tiles.h"

bool fire_winograd_works(void)
{
#if defined(__x86_64__) && defined(__GNUC__)
    return __builtin_cpu_supports("avx512f");
#else
    return false;
#endif
}

/* For 3x3 taps large tiles save more products, but on small maps much of them would
 * hang over the edge. For 5x5 taps there are only large ones. */
static int choose_tile(const fire_winograd_t *c)
{
    enum { SMALL_MAP = 28 };
    bool small = c->out[0] < SMALL_MAP || c->out[1] < SMALL_MAP;

    return c->taps == 3 && small ? FIRE_WINO_SMALL : FIRE_WINO_LARGE;
}

/* Tiles of a chunk: as many as keep its transformed inputs in a core's cache, at least
 * enough to amortise reading the weights; rounded so that all threads get about the
 * same number. real: bytes of a number */
static int64_t chunk_of_tiles(const fire_wino_pass_t *w, size_t real)
{
    enum { CACHE = 1 << 19, LEAST = 4 * FIRE_WINO_ROWS };
    int64_t row = (w->in_blocks + 1) * fire_wino_points(w) * FIRE_LANES * (int64_t)real;
    int64_t most    = CACHE / row > LEAST ? CACHE / row : LEAST;
    int64_t threads = fire_threads(), turns = fire_ceil_div(w->tiles, most * threads);

    return fire_ceil_div(w->tiles, turns * threads);
}

/* ---- from x to y; backward, from dy to dx ---- */

static bool uses_bf16(const fire_winograd_t *c)
{
    return c->taps == 3 && c->dtype == FIRE_BF16;
}

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
    const char              *weights; /* transformed panel */
    const float             *bias;    /* padded with zeros to whole blocks */
    float                    slope;
} job_t;

/* Tiles first ... first + w->chunk - 1. in: panel of inputs, (point, block, tile, 16);
 * out: panel of one block of outputs, (point, tile, 16) */
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

        for (int64_t s = 0; s < fire_wino_points(w); s++, a += a_step, b += b_step)
            steps->multiply(many, w->depth, a, w->chunk * FIRE_LANES, b,
                            out + (size_t)s * c_step);
        for (int64_t t = 0; t < many; t++)
            steps->write_output(w, first + t, k, out + (size_t)t * row, job->bias,
                                job->slope, job->y);
    }
}

/* scratch: panels of all threads */
static void run_chunks(const job_t *job, int64_t threads, char *scratch)
{
    const fire_wino_pass_t *w = &job->pass;
    size_t in  = fire_wino_panel_bytes(w, job->steps->real, w->in_blocks, w->chunk);
    size_t out = fire_wino_panel_bytes(w, job->steps->real, 1, w->chunk);

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

    *w       = fire_wino_pass_make(c, back, choose_tile(c));
    w->chunk = chunk_of_tiles(w, steps->real);
    fixed    = fire_wino_panel_bytes(w, steps->real, w->out_blocks, w->depth);
    ends     = (size_t)(w->out_blocks * FIRE_LANES) * sizeof(float);
    moving   = fire_wino_panel_bytes(w, steps->real, w->in_blocks, w->chunk) +
             fire_wino_panel_bytes(w, steps->real, 1, w->chunk);
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

fire_status_t fire_winograd_backward_weights(const fire_winograd_t *c, const void *x,
                                             const void *dy, float *dweights,
                                             fire_pool_t *pool)
{
    if (uses_bf16(c)) return fire_winograd_bf16_weights(c, x, dy, dweights, pool);
    return fire_winograd_f32_weights(c, choose_tile(c), x, dy, dweights, pool);
}
