/* pooling_simd_forward.c - MAX and AVE pooling, forward, of one block of channels:
 *
 *     MAX  y[o] = the largest x of window o, and which tap it was
 *     AVE  y[o] = the sum of the x of window o / the window's area with padding */
#include <float.h>

#include "layers/pooling/pooling_simd.h"

/* A byte per lane. Written as a loop, of which compilers make one instruction. */
FIRE_SIMD void store_places(int lanes, fire_vi_t v, uint8_t *place)
{
    int32_t lane[FIRE_LANES];

    memcpy(lane, &v, sizeof(v));
    for (int i = 0; i < lanes; i++)
        place[i] = (uint8_t)lane[i];
}

/* The part of a window inside of the image. */
typedef struct window {
    int64_t at;            /* element of its first place in the block */
    int64_t number;        /* tap of that place, counted row by row */
    int64_t rows, columns; /* inside */
    int64_t width;         /* columns of the whole window */
} window_t;

FIRE_SIMD window_t window_at(const fire_pool_windows_t *p, int lanes,
                             fire_pooling_side_t rows, fire_pooling_side_t columns)
{
    return (window_t){.at      = (rows.begin * p->in[1] + columns.begin) * lanes,
                      .number  = rows.skip * p->kernel[1] + columns.skip,
                      .rows    = rows.end - rows.begin,
                      .columns = columns.end - columns.begin,
                      .width   = p->kernel[1]};
}

/* The usual window, wholly inside, gets constant sizes, so that its loops are
 * unrolled. */
FIRE_SIMD bool is_3x3(const window_t *w)
{
    return w->rows == 3 && w->columns == 3 && w->width == 3 && w->number == 0;
}

FIRE_SIMD window_t just_3x3(int64_t at)
{
    return (window_t){.at = at, .rows = 3, .columns = 3, .width = 3};
}

/* Keep v, of tap i, in the lanes where it is larger than the best so far. */
FIRE_SIMD void try_place(fire_vf_t v, int i, fire_vf_t *best, fire_vi_t *from)
{
    fire_vi_t above = v > *best;

    *best = fire_vf_select(above, v, *best);
    *from = (above & fire_vi_all(i)) | (~above & *from);
}

/* step: elements from row to row of the block */
FIRE_SIMD void max_window(fire_dtype_t t, int lanes, window_t w, int64_t step,
                          const void *x, fire_vf_t *best, fire_vi_t *from)
{
    for (int r = 0; r < w.rows; r++)
        for (int c = 0; c < w.columns; c++)
            try_place(fire_vf_load(x, t, lanes, w.at + r * step + c * lanes),
                      (int)(w.number + r * w.width + c), best, from);
}

/* One block of one image. */
FIRE_SIMD void max_block(fire_dtype_t t, int lanes, const fire_pool_windows_t *p,
                         const void *x, void *y, uint8_t *place)
{
    int64_t step = p->in[1] * lanes;

    for (int64_t row = 0, o = 0; row < p->out[0]; row++) {
        fire_pooling_side_t rows = fire_pooling_side(p, 0, row);

        for (int64_t column = 0; column < p->out[1]; column++, o += lanes) {
            window_t  w    = window_at(p, lanes, rows, fire_pooling_side(p, 1, column));
            fire_vf_t best = fire_vf_all(-FLT_MAX);
            fire_vi_t from = fire_vi_all(FIRE_POOLING_MAX_WINDOW);

            if (is_3x3(&w))
                max_window(t, lanes, just_3x3(w.at), step, x, &best, &from);
            else
                max_window(t, lanes, w, step, x, &best, &from);
            fire_vf_store(y, t, lanes, o, best);
            if (place != NULL) store_places(lanes, from, place + o);
        }
    }
}

/* bf16 compared as integers: flipping the other bits of negative numbers makes the bits
 * ascend with the value. Bits above infinity are NaN, which is skipped, as a comparison
 * in float32 would skip it. */
typedef int16_t bits_t __attribute__((vector_size(32)));

/* bf16 bits <-> integers that order alike; its own inverse. */
FIRE_SIMD bits_t in_order(bits_t b)
{
    return b ^ ((b >> 15) & 0x7fff);
}

FIRE_SIMD void try_bits(const uint16_t *x, int i, bits_t *best, bits_t *from)
{
    const int16_t infinity = 0x7f80;
    bits_t        v, above;

    memcpy(&v, x, sizeof(v));
    v     = in_order(v);
    above = (v > *best) & (v <= infinity);
    *best = (above & v) | (~above & *best);
    *from = (above & (int16_t)i) | (~above & *from);
}

FIRE_SIMD void max_bits_window(window_t w, int64_t step, const uint16_t *x,
                               bits_t *best, bits_t *from)
{
    for (int r = 0; r < w.rows; r++)
        for (int c = 0; c < w.columns; c++)
            try_bits(x + w.at + r * step + c * FIRE_LANES,
                     (int)(w.number + r * w.width + c), best, from);
}

FIRE_SIMD void max_bits(const fire_pool_windows_t *p, const uint16_t *x, uint16_t *y,
                        uint8_t *place)
{
    const int16_t lowest = -0x7f80; /* in order: -FLT_MAX */
    int64_t       step   = p->in[1] * FIRE_LANES;

    for (int64_t row = 0, o = 0; row < p->out[0]; row++) {
        fire_pooling_side_t rows = fire_pooling_side(p, 0, row);

        for (int64_t column = 0; column < p->out[1]; column++, o += FIRE_LANES) {
            window_t w =
                window_at(p, FIRE_LANES, rows, fire_pooling_side(p, 1, column));
            bits_t best = {0}, from = {0}, v;

            best += lowest;
            from += FIRE_POOLING_MAX_WINDOW;
            if (is_3x3(&w))
                max_bits_window(just_3x3(w.at), step, x, &best, &from);
            else
                max_bits_window(w, step, x, &best, &from);
            v = in_order(best);
            memcpy(y + o, &v, sizeof(v));
            for (int i = 0; i < FIRE_LANES && place != NULL; i++)
                place[o + i] = (uint8_t)from[i];
        }
    }
}

FIRE_SIMD void ave_block(fire_dtype_t t, int lanes, const fire_pool_windows_t *p,
                         const void *x, void *y)
{
    for (int64_t row = 0, o = 0; row < p->out[0]; row++) {
        fire_pooling_side_t rows = fire_pooling_side(p, 0, row);

        for (int64_t column = 0; column < p->out[1]; column++, o += lanes) {
            fire_pooling_side_t columns = fire_pooling_side(p, 1, column);
            window_t            w       = window_at(p, lanes, rows, columns);
            float               area    = (float)(rows.length * columns.length);
            fire_vf_t           sum     = {0};

            for (int64_t r = 0; r < w.rows; r++)
                for (int64_t c = 0; c < w.columns; c++)
                    sum += fire_vf_load(x, t, lanes, w.at + (r * p->in[1] + c) * lanes);
            /* a window beyond the image is empty: give 0, not 0 / 0 */
            fire_vf_store(y, t, lanes, o, sum / fire_vf_all(area != 0 ? area : 1));
        }
    }
}

FIRE_SIMD void forward_step(fire_dtype_t t, int lanes, const fire_pooling_pass_t *s,
                            const void *x, void *y, uint8_t *place)
{
    if (s->max && t == FIRE_BF16_CPU)
        max_bits(s->shape, x, y, place);
    else if (s->max)
        max_block(t, lanes, s->shape, x, y, place);
    else
        ave_block(t, lanes, s->shape, x, y);
}
FIRE_SIMD_KERNEL(forward_block, forward_block_any, forward_block_bf16, forward_step,
                 s->in->dtype, s->in->block,
                 (const fire_pooling_pass_t *s, const void *x, void *y, uint8_t *place),
                 s, x, y, place)

void fire_pooling_simd_forward_block(const fire_pooling_pass_t *s, const void *x,
                                     void *y, uint8_t *place)
{
    forward_block(s, x, y, place);
}
