/* transform4.h - Winograd's transforms of tiles of 4x4 places, for 16 channels at once.
 * The interpolation points are 0, +-1 and infinity: the only factor is 1/2, so that
 * rounding to bfloat16 before the products loses little. Names as in transform8.h. */
#ifndef FIRE_LAYERS_CONV_WINOGRAD_TRANSFORM4_H
#define FIRE_LAYERS_CONV_WINOGRAD_TRANSFORM4_H
#include "device/cpu/simd.h"
#include "layers/conv/winograd/tiles.h"

enum {
    FIRE_WINO_SMALL_POINTS = FIRE_WINO_SMALL * FIRE_WINO_SMALL,
    FIRE_WINO_SMALL_EDGE   = 3, /* most taps or outputs along an edge */
};

/* B': 4 inputs d -> 4 values t */
FIRE_SIMD void fire_wino4_input_1d(const fire_vf_t *d, fire_vf_t *t)
{
    t[0] = d[0] - d[2];
    t[1] = d[1] + d[2];
    t[2] = d[2] - d[1];
    t[3] = d[3] - d[1];
}

/* G: 2 or 3 taps w -> 4 values t */
FIRE_SIMD void fire_wino4_taps_1d(int n, const fire_vf_t *w, fire_vf_t *t)
{
    fire_vf_t even = (n == 3 ? w[0] + w[2] : w[0]) * 0.5f, odd = w[1] * 0.5f;

    t[0] = w[0];
    t[1] = even + odd;
    t[2] = even - odd;
    t[3] = w[n - 1];
}

/* A': 4 products t -> 2 or 3 outputs y */
FIRE_SIMD void fire_wino4_output_1d(int n, const fire_vf_t *t, fire_vf_t *y)
{
    y[0] = t[0] + (t[1] + t[2]);
    y[1] = t[1] - t[2];
    if (n == 3) y[2] = t[1] + t[2];
    y[n - 1] += t[3];
}

/* ---- two axes: columns first, then rows ---- */

/* Place (y, x) of a tile; 0 outside of the image. */
FIRE_SIMD fire_vf_t fire_wino4_load(fire_dtype_t type, bool inside,
                                    const fire_wino_tile_t *p, const void *src, int y,
                                    int x)
{
    if (!inside && (y < p->y0 || y >= p->y1 || x < p->x0 || x >= p->x1))
        return (fire_vf_t){0};
    return fire_vf_load(src, type, FIRE_LANES,
                        (p->corner + y * p->width + x) * FIRE_LANES);
}

/* B' d B of a tile of inputs. inside: all of it is inside the image, a constant */
FIRE_SIMD void fire_wino4_input(fire_dtype_t type, bool inside,
                                const fire_wino_tile_t *p, const void *src,
                                fire_vf_t *point)
{
    fire_vf_t half[4][4], d[4], t[4];

    for (int x = 0; x < 4; x++) {
        for (int y = 0; y < 4; y++)
            d[y] = fire_wino4_load(type, inside, p, src, y, x);
        fire_wino4_input_1d(d, t);
        for (int i = 0; i < 4; i++)
            half[i][x] = t[i];
    }
    for (int i = 0; i < 4; i++)
        fire_wino4_input_1d(half[i], point + 4 * i);
}

/* G g G' of n x n taps. */
FIRE_SIMD void fire_wino4_taps(fire_dtype_t type, int n, const fire_wino_tile_t *p,
                               const void *src, fire_vf_t *point)
{
    fire_vf_t half[4][FIRE_WINO_SMALL_EDGE], d[FIRE_WINO_SMALL_EDGE], t[4];

    for (int x = 0; x < n; x++) {
        for (int y = 0; y < n; y++)
            d[y] = fire_wino4_load(type, false, p, src, y, x);
        fire_wino4_taps_1d(n, d, t);
        for (int i = 0; i < 4; i++)
            half[i][x] = t[i];
    }
    for (int i = 0; i < 4; i++)
        fire_wino4_taps_1d(n, half[i], point + 4 * i);
}

/* A' t A: n x n outputs from the points at src[i * step]. */
FIRE_SIMD void fire_wino4_output(int n, const float *src, int64_t step,
                                 fire_vf_t (*y)[FIRE_WINO_EDGE])
{
    fire_vf_t half[FIRE_WINO_SMALL_EDGE][4], t[4], out[FIRE_WINO_SMALL_EDGE];

    for (int j = 0; j < 4; j++) {
        for (int i = 0; i < 4; i++)
            memcpy(&t[i], src + (i * 4 + j) * step, sizeof(t[i]));
        fire_wino4_output_1d(n, t, out);
        for (int i = 0; i < n; i++)
            half[i][j] = out[i];
    }
    for (int i = 0; i < n; i++)
        fire_wino4_output_1d(n, half[i], y[i]);
}
#endif
