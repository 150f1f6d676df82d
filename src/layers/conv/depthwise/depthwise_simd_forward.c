/* depthwise_simd_forward.c - depthwise convolution of 3x3 windows, forward:
 *
 *     y[h][w] = bias + sum over i, j of w[i][j] * x[h * stride - pad + i][...]
 *
 * for 16 channels at once. Weights stay in registers for a whole map. */
#include "layers/conv/depthwise/depthwise_simd.h"

enum {
    SMALL = 256
}; /* a map of fewer places ends before the CPU's prefetcher starts */

/* Bias + products of one window, which begins at place `from` of three rows.
 * whole: none of it is outside of the rows */
FIRE_SIMD fire_vf_t forward_window(int lanes, bool whole, const float *const *row,
                                   int64_t width, int64_t from, const fire_vf_t *w)
{
    fire_vf_t sum = w[FIRE_DW_WINDOW];

#pragma GCC unroll 9
    for (int i = 0; i < FIRE_DW_WINDOW; i++) {
        int64_t place = from + i % FIRE_DW_TAPS;

        if (whole || (place >= 0 && place < width))
            sum += w[i] *
                   fire_vf_load(row[i / FIRE_DW_TAPS], FIRE_F32, lanes, place * lanes);
    }
    return sum;
}

/* Row r of y from three rows of x. */
FIRE_SIMD void forward_row(fire_dtype_t t, int lanes, int stride,
                           const fire_depthwise_job_t *j, int64_t r,
                           fire_depthwise_rows_t *x, const fire_depthwise_rows_t *y,
                           const fire_vf_t *w)
{
    int64_t      top = r * stride - j->pad[0], at = r * y->width * lanes;
    const float *row[FIRE_DW_TAPS];
    const char  *ahead[2], *y_ahead = fire_depthwise_row_ahead(t, lanes, y, r);
    bool         small = y->n * y->width <= SMALL;
    fire_vf_t    sum;

    for (int i = 0; i < FIRE_DW_TAPS; i++)
        row[i] = fire_depthwise_row(t, lanes, x, top + i);
    for (int i = 0; i < stride; i++)
        ahead[i] = fire_depthwise_row_ahead(t, lanes, x, r * stride + i);
    for (int64_t c = 0; c < y->width; c++) {
        int64_t from = c * stride - j->pad[1];

        for (int i = 0; i < stride * stride; i++)
            fire_depthwise_fetch(t, lanes, ahead[i / stride], c * stride + i % stride);
        if (small) fire_depthwise_fetch(t, lanes, y_ahead, c);
        if (from >= 0 && from + FIRE_DW_TAPS <= x->width)
            sum = forward_window(lanes, true, row, x->width, from, w);
        else
            sum = forward_window(lanes, false, row, x->width, from, w);
        if (j->slope != 1.0f) sum = fire_vf_select(sum > 0.0f, sum, sum * j->slope);
        fire_vf_store((char *)y->base, t, lanes, at + c * lanes, sum);
    }
}

FIRE_SIMD void forward_step(fire_dtype_t t, int lanes, const fire_depthwise_job_t *j,
                            const fire_depthwise_map_t *m)
{
    fire_depthwise_rows_t x = fire_depthwise_rows(t, lanes, j, m, j->x, j->in_dim);
    fire_depthwise_rows_t y = fire_depthwise_rows(t, lanes, j, m, j->y, j->out_dim);
    fire_vf_t             w[FIRE_DW_SUMS];

#pragma GCC unroll 10
    for (int i = 0; i < FIRE_DW_SUMS; i++)
        w[i] = fire_vf_load(m->weights, FIRE_F32, lanes, i * lanes);
    if (j->stride == 1)
        for (int64_t r = 0; r < y.n; r++)
            forward_row(t, lanes, 1, j, r, &x, &y, w);
    else
        for (int64_t r = 0; r < y.n; r++)
            forward_row(t, lanes, 2, j, r, &x, &y, w);
}
FIRE_SIMD_KERNEL(forward_map, forward_map_any, forward_map_bf16, forward_step,
                 j->in->dtype, j->in->block,
                 (const fire_depthwise_job_t *j, const fire_depthwise_map_t *m), j, m)

void fire_depthwise_simd_forward_map(const fire_depthwise_job_t *j,
                                     const fire_depthwise_map_t *m)
{
    forward_map(j, m);
}
