/* f32.c - Winograd's algorithm in float32, with tiles of 8x8 or 4x4 places: the steps
 * of a pass, and the gradient of the weights. For activations of float32, and of
 * bfloat16 with 5x5 taps.
 *
 * The gradient of r x r taps is again a Winograd convolution: m x m gradients of the
 * outputs act as taps on a tile of inputs, and give r x r outputs, summed over all
 * tiles. */
#include "device/cpu/parallel.h"
#include "layers/conv/winograd/multiply.h"
#include "layers/conv/winograd/transform4.h"

/* ---- tiles ---- */

FIRE_SIMD void store_points(const fire_vf_t *point, float *dst, int64_t step)
{
    for (int i = 0; i < FIRE_WINO_SMALL_POINTS; i++)
        fire_reals_store(dst + i * step, point[i]);
}

/* The three functions below choose the transform at compile time: `tile` and n come
 * from the job, but each call of a transform has them as constants. */
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

/* What a tile is read from: inputs (B' d B), or gradients of outputs (G g G'). */
typedef enum tile_kind { INPUTS, GRADIENTS } tile_kind_t;

/* Tile t of all channels into row `row` of a panel of `rows` rows. */
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

/* Write a block of channels of tile t to y. src: the products at (point, 16) of that
 * tile */
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

/* ---- weights: transformed, and back ---- */

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

/* Transform the sums of input channel k to taps and add them to dweights. */
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

static void multiply(int64_t rows, int64_t depth, const void *a, int64_t a_block,
                     const void *b, void *c)
{
    fire_wino_multiply(rows, depth, a, a_block, b, c);
}

const fire_wino_steps_t fire_wino_f32 = {
    .real         = sizeof(float),
    .read_input   = read_inputs,
    .read_taps    = read_taps,
    .multiply     = multiply,
    .write_output = write_output,
};

/* ---- gradient of the weights ---- */

/* sums += inputs' * gradients, for one point and all pairs of channels. */
static void sum_point(const fire_wino_pass_t *w, int64_t many, int64_t rows,
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

/* Add the products of a chunk of tiles. Threads share the tiles to transform, then the
 * points to multiply: each sum is made by one thread, in the order of the tiles. */
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
    FIRE_PARALLEL(s, fire_wino_points(w), true)
    sum_point(w, many, rows, in + s * fire_wino_point_step(w->in_blocks, w->chunk),
              out + s * fire_wino_point_step(w->out_blocks, w->chunk),
              sums + s * fire_wino_point_step(w->out_blocks, rows));
}

/* Tiles of a chunk: few enough to stay in the caches, many enough to amortise reading
 * and writing all sums once for each chunk. */
static int64_t chunk_of_sums(const fire_wino_pass_t *w)
{
    enum { CACHE = 1 << 21, LEAST = 128 };
    int64_t row = (w->in_blocks + w->out_blocks) * fire_wino_points(w) * FIRE_LANES * 4;
    int64_t most = CACHE / row > LEAST ? CACHE / row : LEAST;

    return most < w->tiles ? most : w->tiles;
}

fire_status_t fire_winograd_f32_weights(const fire_winograd_t *c, int tile,
                                        const void *x, const void *dy, float *dweights,
                                        fire_pool_t *pool)
{
    fire_wino_pass_t w    = fire_wino_pass_make(c, false, tile);
    int64_t          rows = w.in_step * FIRE_LANES;
    size_t           sums, in;
    char            *panel;

    w.chunk = chunk_of_sums(&w);
    sums    = fire_wino_panel_bytes(&w, sizeof(float), w.out_blocks, rows);
    in      = fire_wino_panel_bytes(&w, sizeof(float), w.in_blocks, w.chunk);
    FIRE_TRY(fire_pool_take(
        pool,
        sums + in + fire_wino_panel_bytes(&w, sizeof(float), w.out_blocks, w.chunk),
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
