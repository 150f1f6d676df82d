/* small.h - Winograd's transforms of tiles of 4x4 places, 16 channels at once.
 * Points are 0, +-1 and infinity: no factor but 1/2, so that rounding to bfloat16 before
 * the products does little harm. */
#ifndef FIRE_LAYERS_CONV_WINOGRAD_SMALL_H
#define FIRE_LAYERS_CONV_WINOGRAD_SMALL_H
#include "device/cpu/simd.h"
#include "layers/conv/winograd/way.h"

enum {
    FIRE_SMALL_TILE  = 4,
    FIRE_SMALL_SPOTS = FIRE_SMALL_TILE * FIRE_SMALL_TILE,
    FIRE_SMALL_SIDE  = 3, /* most taps or outputs along an edge */
};

/* 4 inputs -> 4 values */
FIRE_SIMD void fire_small_input(const fire_vf_t *d, fire_vf_t *t)
{
    t[0] = d[0] - d[2];
    t[1] = d[1] + d[2];
    t[2] = d[2] - d[1];
    t[3] = d[3] - d[1];
}

/* 2 or 3 taps -> 4 values */
FIRE_SIMD void fire_small_taps(int n, const fire_vf_t *w, fire_vf_t *t)
{
    fire_vf_t even = (n == 3 ? w[0] + w[2] : w[0]) * 0.5f, odd = w[1] * 0.5f;

    t[0] = w[0];
    t[1] = even + odd;
    t[2] = even - odd;
    t[3] = w[n - 1];
}

/* 4 products -> 2 or 3 outputs */
FIRE_SIMD void fire_small_output(int n, const fire_vf_t *t, fire_vf_t *y)
{
    y[0] = t[0] + (t[1] + t[2]);
    y[1] = t[1] - t[2];
    if (n == 3) y[2] = t[1] + t[2];
    y[n - 1] += t[3];
}

/* ---- both ways: columns first ---- */

FIRE_SIMD fire_vf_t fire_small_place(fire_dtype_t type, bool inside,
                                     const fire_tile_part_t *p, const void *src, int y,
                                     int x)
{
    if (!inside && (y < p->y0 || y >= p->y1 || x < p->x0 || x >= p->x1))
        return (fire_vf_t){0};
    return fire_vf_load(src, type, FIRE_LANES,
                        (p->corner + y * p->width + x) * FIRE_LANES);
}

/* inside: the part is whole */
FIRE_SIMD void fire_small_from_input(fire_dtype_t type, bool inside,
                                     const fire_tile_part_t *p, const void *src,
                                     fire_vf_t *spot)
{
    fire_vf_t half[4][4], d[4], t[4];

    for (int x = 0; x < 4; x++) {
        for (int y = 0; y < 4; y++)
            d[y] = fire_small_place(type, inside, p, src, y, x);
        fire_small_input(d, t);
        for (int i = 0; i < 4; i++)
            half[i][x] = t[i];
    }
    for (int i = 0; i < 4; i++)
        fire_small_input(half[i], spot + 4 * i);
}

/* The same for n x n taps. */
FIRE_SIMD void fire_small_from_taps(fire_dtype_t type, int n, const fire_tile_part_t *p,
                                    const void *src, fire_vf_t *spot)
{
    fire_vf_t half[4][FIRE_SMALL_SIDE], d[FIRE_SMALL_SIDE], t[4];

    for (int x = 0; x < n; x++) {
        for (int y = 0; y < n; y++)
            d[y] = fire_small_place(type, false, p, src, y, x);
        fire_small_taps(n, d, t);
        for (int i = 0; i < 4; i++)
            half[i][x] = t[i];
    }
    for (int i = 0; i < 4; i++)
        fire_small_taps(n, half[i], spot + 4 * i);
}

/* n x n outputs from the spots at src[i * step] */
FIRE_SIMD void fire_small_to_output(int n, const float *src, int64_t step,
                                    fire_vf_t (*y)[FIRE_SIDE])
{
    fire_vf_t half[FIRE_SMALL_SIDE][4], t[4], out[FIRE_SMALL_SIDE];

    for (int j = 0; j < 4; j++) {
        for (int i = 0; i < 4; i++)
            memcpy(&t[i], src + (i * 4 + j) * step, sizeof(t[i]));
        fire_small_output(n, t, out);
        for (int i = 0; i < n; i++)
            half[i][j] = out[i];
    }
    for (int i = 0; i < n; i++)
        fire_small_output(n, half[i], y[i]);
}
#endif
