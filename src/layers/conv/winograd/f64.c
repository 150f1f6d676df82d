/* f64.c - 5x5 taps by Winograd's algorithm in float64, for activations in float32: the
 * errors that the transforms magnify are then far below the rounding of results to
 * float32. A vector has 8 channels: each block of 16 is done in two halves. */
#define FIRE_WINO_REAL double
#include "layers/conv/winograd/multiply.h"

enum { TAPS = 5, OUTPUTS = FIRE_WINO_LARGE + 1 - TAPS };

FIRE_AVX512 static void read_input(const fire_wino_pass_t *w, int64_t t, const void *x,
                                   int64_t row, int64_t rows, void *panel)
{
    fire_wino_tile_t p    = fire_wino_input_tile(w, t);
    int64_t          step = fire_wino_point_step(w->in_blocks, rows);
    double          *dst  = (double *)panel + row * FIRE_LANES;

    for (int64_t b = 0; b < w->in_blocks; b++) {
        for (int i = 0; i < FIRE_LANES; i += FIRE_REALS)
            fire_wino8_input(FIRE_F32, &p, (const float *)x + i, dst + i, step);
        p.corner += w->in[0] * w->in[1];
        dst += rows * FIRE_LANES;
    }
}

FIRE_AVX512 static void read_taps(const fire_wino_pass_t *w, bool back,
                                  const float *weights, int64_t block, int64_t k,
                                  void *panel)
{
    fire_wino_tile_t all = {.width = TAPS, .y1 = TAPS, .x1 = TAPS};
    double          *dst = (double *)panel + (block * w->depth + k) * FIRE_LANES;
    float            taps[TAPS * TAPS * FIRE_LANES];

    fire_wino_gather_taps(TAPS, w, back, weights, block, k, taps);
    for (int i = 0; i < FIRE_LANES; i += FIRE_REALS)
        fire_wino8_taps(FIRE_F32, TAPS, &all, taps + i, dst + i,
                        fire_wino_point_step(w->out_blocks, w->depth));
}

static void multiply(int64_t rows, int64_t depth, const void *a, int64_t a_block,
                     const void *b, void *c)
{
    for (int i = 0; i < FIRE_LANES; i += FIRE_REALS)
        fire_wino_multiply(rows, depth, a, a_block, (const double *)b + i,
                           (double *)c + i);
}

/* Rounded to float32; the upper half of the vector is zero. */
FIRE_SIMD fire_vf_t narrow(fire_reals_t v)
{
    fire_floats_t floats = __builtin_convertvector(v, fire_floats_t);
    fire_vf_t     all    = {0};

    memcpy(&all, &floats, sizeof(floats));
    return all;
}

/* Half a block of one tile. A function of its own, as clang passes vectors only between
 * functions of the same target. */
FIRE_SIMD void write_reals(const fire_wino_tile_t *p, const double *src, int64_t step,
                           const float *bias, float slope, float *y)
{
    fire_reals_t more = fire_reals_read(bias, FIRE_F32, 0);
    fire_reals_t out[FIRE_WINO_EDGE][FIRE_WINO_EDGE];

    fire_wino8_output(OUTPUTS, src, step, out);
    for (int k = 0; k < p->y1; k++)
        for (int j = 0; j < p->x1; j++) {
            fire_vf_t v = narrow(out[k][j] + more);

            if (slope != 1.0f) v = fire_vf_select(v > 0, v, v * slope);
            fire_vf_store(y, FIRE_F32, FIRE_REALS,
                          (p->corner + k * p->width + j) * FIRE_LANES, v);
        }
}

FIRE_AVX512 static void write_output(const fire_wino_pass_t *w, int64_t t,
                                     int64_t block, const void *src, const float *bias,
                                     float slope, void *y)
{
    fire_wino_tile_t p = fire_wino_output_tile(w, t);

    p.corner += block * w->out[0] * w->out[1];
    for (int i = 0; i < FIRE_LANES; i += FIRE_REALS)
        write_reals(&p, (const double *)src + i, fire_wino_point_step(1, w->chunk),
                    bias + block * FIRE_LANES + i, slope, (float *)y + i);
}

const fire_wino_steps_t fire_wino_f64 = {
    .real         = sizeof(double),
    .read_input   = read_input,
    .read_taps    = read_taps,
    .multiply     = multiply,
    .write_output = write_output,
};
