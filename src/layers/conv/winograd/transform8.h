/* transform8.h - Winograd's transforms of tiles of 8x8 places, for 16 channels at once.
 * The interpolation points are 0, +-1, +-2, +-1/2 and infinity; `t` are the eight
 * values there of a line of inputs (B'), of up to six taps (G), or the products that up
 * to six outputs are made of (A').
 *
 * A source that computes in float64 defines FIRE_WINO_REAL as double: then a vector has
 * 8 channels, in arrays that still have blocks of 16. */
#ifndef FIRE_LAYERS_CONV_WINOGRAD_TRANSFORM8_H
#define FIRE_LAYERS_CONV_WINOGRAD_TRANSFORM8_H
#include "device/cpu/simd.h"
#include "layers/conv/winograd/tiles.h"

#ifndef FIRE_WINO_REAL
#    define FIRE_WINO_REAL float
#endif

typedef FIRE_WINO_REAL fire_real_t;
typedef fire_real_t    fire_reals_t __attribute__((vector_size(64)));

enum { FIRE_REALS = sizeof(fire_reals_t) / sizeof(fire_real_t) };

/* As many float32 numbers as fire_reals_t has of its own. */
typedef float fire_floats_t __attribute__((vector_size(FIRE_REALS * sizeof(float))));

/* B': 8 inputs d -> 8 values t */
FIRE_SIMD void fire_wino8_input_1d(const fire_reals_t *d, fire_reals_t *t)
{
    fire_reals_t even, odd;

    t[0] = d[0] - d[6] + (d[4] - d[2]) * 5.25f;
    t[7] = d[7] - d[1] + (d[3] - d[5]) * 5.25f;
    even = d[2] + d[6] - d[4] * 4.25f;
    odd  = d[1] + d[5] - d[3] * 4.25f;
    t[1] = even + odd;
    t[2] = even - odd;
    even = d[6] + d[2] * 0.25f - d[4] * 1.25f;
    odd  = d[1] * 0.5f - d[3] * 2.5f + d[5] * 2.0f;
    t[3] = even + odd;
    t[4] = even - odd;
    even = d[6] + d[2] * 4.0f - d[4] * 5.0f;
    odd  = d[1] * 2.0f - d[3] * 2.5f + d[5] * 0.5f;
    t[5] = even + odd;
    t[6] = even - odd;
}

/* The values at +x and -x, times `scale`, of the polynomial with coefficients w[0 ...
 * n-1]. */
FIRE_SIMD void fire_wino8_evaluate(int n, const fire_reals_t *w, fire_real_t x,
                                   fire_real_t scale, fire_reals_t *t)
{
    fire_reals_t even = w[0] * scale, odd = w[1] * (scale * x);
    fire_real_t  power = scale * x * x;

    for (int k = 2; k < n; k++, power *= x)
        if (k % 2 == 0)
            even += w[k] * power;
        else
            odd += w[k] * power;
    t[0] = even + odd;
    t[1] = even - odd;
}

/* G: n taps w -> 8 values t */
FIRE_SIMD void fire_wino8_taps_1d(int n, const fire_reals_t *w, fire_reals_t *t)
{
    t[0] = w[0];
    fire_wino8_evaluate(n, w, 1, (fire_real_t)-2 / 9, t + 1);
    fire_wino8_evaluate(n, w, 2, (fire_real_t)1 / 90, t + 3);
    fire_wino8_evaluate(n, w, (fire_real_t)1 / 2, (fire_real_t)32 / 45, t + 5);
    t[7] = w[n - 1];
}

/* A': 8 products t -> n outputs y */
FIRE_SIMD void fire_wino8_output_1d(int n, const fire_reals_t *t, fire_reals_t *y)
{
    fire_reals_t sum[3], difference[3];
    float        two = 1.0f, half = 1.0f; /* to the power of k */

    for (int i = 0; i < 3; i++) {
        sum[i]        = t[2 * i + 1] + t[2 * i + 2];
        difference[i] = t[2 * i + 1] - t[2 * i + 2];
    }
    y[0] = t[0] + sum[0] + sum[1] + sum[2];
    for (int k = 1; k < n; k++) {
        const fire_reals_t *part = k % 2 == 0 ? sum : difference;

        two *= 2.0f;
        half *= 0.5f;
        y[k] = part[0] + part[1] * two + part[2] * half;
    }
    y[n - 1] += t[7];
}

/* ---- two axes: columns first, then rows ---- */

/* Activations or weights from element i on, as fire_reals_t. */
FIRE_SIMD fire_reals_t fire_reals_read(const void *x, fire_dtype_t t, int64_t i)
{
    fire_vf_t     v = fire_vf_load(x, t, FIRE_REALS, i);
    fire_floats_t part;

    memcpy(&part, &v, sizeof(part));
    return __builtin_convertvector(part, fire_reals_t);
}

FIRE_SIMD fire_reals_t fire_reals_load(const fire_real_t *x)
{
    fire_reals_t v;

    memcpy(&v, x, sizeof(v));
    return v;
}

FIRE_SIMD void fire_reals_store(fire_real_t *y, fire_reals_t v)
{
    memcpy(y, &v, sizeof(v));
}

/* Column x of a tile n places high; numbers are of type t, zeros outside of the
 * image. */
FIRE_SIMD void fire_wino8_column(fire_dtype_t t, int n, const fire_wino_tile_t *p,
                                 const void *src, int x, fire_reals_t *d)
{
    for (int y = 0; y < n; y++)
        d[y] =
            y >= p->y0 && y < p->y1 && x >= p->x0 && x < p->x1
                ? fire_reals_read(src, t, (p->corner + y * p->width + x) * FIRE_LANES)
                : (fire_reals_t){0};
}

/* B' d B of a tile of inputs; point i goes to dst[i * step]. */
FIRE_SIMD void fire_wino8_input(fire_dtype_t type, const fire_wino_tile_t *p,
                                const void *src, fire_real_t *dst, int64_t step)
{
    fire_reals_t half[FIRE_WINO_LARGE][FIRE_WINO_LARGE], d[FIRE_WINO_LARGE],
        t[FIRE_WINO_LARGE];

    for (int x = 0; x < FIRE_WINO_LARGE; x++) {
        fire_wino8_column(type, FIRE_WINO_LARGE, p, src, x, d);
        fire_wino8_input_1d(d, t);
        for (int i = 0; i < FIRE_WINO_LARGE; i++)
            half[i][x] = t[i];
    }
    for (int i = 0; i < FIRE_WINO_LARGE; i++) {
        fire_wino8_input_1d(half[i], t);
        for (int j = 0; j < FIRE_WINO_LARGE; j++, dst += step)
            fire_reals_store(dst, t[j]);
    }
}

/* G g G' of n x n taps, to dst likewise. */
FIRE_SIMD void fire_wino8_taps(fire_dtype_t type, int n, const fire_wino_tile_t *p,
                               const void *src, fire_real_t *dst, int64_t step)
{
    fire_reals_t half[FIRE_WINO_LARGE][FIRE_WINO_EDGE], d[FIRE_WINO_EDGE],
        t[FIRE_WINO_LARGE];

    for (int x = 0; x < n; x++) {
        fire_wino8_column(type, n, p, src, x, d);
        fire_wino8_taps_1d(n, d, t);
        for (int i = 0; i < FIRE_WINO_LARGE; i++)
            half[i][x] = t[i];
    }
    for (int i = 0; i < FIRE_WINO_LARGE; i++) {
        fire_wino8_taps_1d(n, half[i], t);
        for (int j = 0; j < FIRE_WINO_LARGE; j++, dst += step)
            fire_reals_store(dst, t[j]);
    }
}

/* A' t A: n x n outputs from the points at src[i * step]. */
FIRE_SIMD void fire_wino8_output(int n, const fire_real_t *src, int64_t step,
                                 fire_reals_t (*y)[FIRE_WINO_EDGE])
{
    fire_reals_t half[FIRE_WINO_EDGE][FIRE_WINO_LARGE], t[FIRE_WINO_LARGE],
        out[FIRE_WINO_EDGE];

    for (int j = 0; j < FIRE_WINO_LARGE; j++) {
        for (int i = 0; i < FIRE_WINO_LARGE; i++)
            t[i] = fire_reals_load(src + (i * FIRE_WINO_LARGE + j) * step);
        fire_wino8_output_1d(n, t, out);
        for (int i = 0; i < n; i++)
            half[i][j] = out[i];
    }
    for (int i = 0; i < n; i++)
        fire_wino8_output_1d(n, half[i], y[i]);
}
#endif
