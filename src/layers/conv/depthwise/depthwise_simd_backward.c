/* depthwise_simd_backward.c - both gradients of a depthwise convolution of 3x3 windows
 * in one pass, which reads x and dy once and writes dx once:
 *
 *     dx[p]   = sum over taps t, outputs o that read place p through t, of w[t] * dy[o]
 *     dw[t]  += sum over the same pairs, of x[p] * dy[o]
 *
 * Rows of x are taken in order. With stride s, row h is read by taps first, first + s
 * ... of the window's rows, where first = (h + pad) mod s. Weights and the sums of dw
 * stay in registers for a whole map. */
#include "layers/conv/depthwise/depthwise_simd.h"

/* The taps, and the rows of dy that read the current row of x through them. */
typedef struct taps {
    const float *dy[FIRE_DW_TAPS];    /* by window row first, first + stride ... */
    fire_vf_t    w[FIRE_DW_WINDOW];   /* weights, per channel */
    fire_vf_t    sum[FIRE_DW_WINDOW]; /* their gradients so far */
} taps_t;

/* Group g of a row of x: its `stride` places g * stride - pad + e, e = 0 ... stride -
 * 1. Place e is read through taps e, e + stride ... by outputs g, g - 1 ... Stores dx
 * and adds to the gradients of the taps. at: element of the row's first place in x;
 * whole: all places and outputs exist */
FIRE_SIMD void back_group(fire_dtype_t t, int lanes, int stride, int first, bool whole,
                          const fire_depthwise_job_t *j, int64_t g, int64_t at,
                          taps_t *taps)
{
#pragma GCC unroll 2
    for (int e = 0; e < stride; e++) {
        int64_t   place = g * stride - j->pad[1] + e;
        fire_vf_t x, d, dx = {0};

        if (!whole && (place < 0 || place >= j->in_dim[1])) continue;
        x = fire_vf_load(j->x, t, lanes, at + place * lanes);
#pragma GCC unroll 9
        for (int i = 0; i < FIRE_DW_WINDOW; i++) {
            int     row = i / FIRE_DW_TAPS, tap = i % FIRE_DW_TAPS;
            int64_t output = g - tap / stride;

            if (row % stride != first || tap % stride != e) continue;
            if (!whole && (output < 0 || output >= j->out_dim[1])) continue;
            d = fire_vf_load(taps->dy[row / stride], FIRE_F32, lanes, output * lanes);
            dx += taps->w[i] * d;
            taps->sum[i] += x * d;
        }
        if (stride > 1 && lanes == FIRE_LANES && j->past)
            fire_vf_stream(j->dx, t, at + place * lanes, dx);
        else if (j->dx != NULL)
            fire_vf_store(j->dx, t, lanes, at + place * lanes, dx);
    }
}

/* Row h of x; first: (h + pad) mod stride, as a constant. */
FIRE_SIMD void back_row(fire_dtype_t t, int lanes, int stride, int first,
                        const fire_depthwise_job_t *j, const fire_depthwise_map_t *m,
                        int64_t h, fire_depthwise_rows_t *dy, taps_t *taps)
{
    fire_depthwise_rows_t x   = fire_depthwise_rows(t, lanes, j, m, j->x, j->in_dim);
    int64_t               pad = j->pad[1], at = (m->k * x.n + h) * x.width * lanes;
    int64_t               below    = (h + j->pad[0]) / stride;
    const char           *x_ahead  = fire_depthwise_row_ahead(t, lanes, &x, h);
    const char           *dy_ahead = fire_depthwise_row_ahead(t, lanes, dy, below);

#pragma GCC unroll 3
    for (int i = 0; first + i * stride < FIRE_DW_TAPS; i++)
        taps->dy[i] = fire_depthwise_row(t, lanes, dy, below - i);
    for (int64_t g = pad / stride; g * stride - pad < x.width; g++) {
        for (int e = 0; e < stride; e++)
            fire_depthwise_fetch(t, lanes, x_ahead, g * stride + e);
        if (first == 0) fire_depthwise_fetch(t, lanes, dy_ahead, g);
        if (g * stride >= pad && g * stride >= FIRE_DW_TAPS - 1 &&
            (g + 1) * stride - pad <= x.width && g < j->out_dim[1])
            back_group(t, lanes, stride, first, true, j, g, at, taps);
        else
            back_group(t, lanes, stride, first, false, j, g, at, taps);
    }
}

/* The gradient of the bias: a sum for each row, then over rows, which rounds less than
 * one long chain of additions. */
FIRE_SIMD void sum_rows(fire_dtype_t t, int lanes, const fire_depthwise_rows_t *r,
                        float *sum_p)
{
    fire_vf_t sum = {0};

    for (int64_t row = 0; row < r->n; row++) {
        fire_vf_t part = {0};

        for (int64_t i = 0; i < r->width; i++)
            part += fire_vf_load(r->base, t, lanes, (row * r->width + i) * lanes);
        sum += part;
    }
    fire_vf_store(sum_p, FIRE_F32, lanes, 0, sum);
}

FIRE_SIMD void backward_step(fire_dtype_t t, int lanes, const fire_depthwise_job_t *j,
                             const fire_depthwise_map_t *m)
{
    fire_depthwise_rows_t dy = fire_depthwise_rows(t, lanes, j, m, j->dy, j->out_dim);
    taps_t                taps;

#pragma GCC unroll 9
    for (int i = 0; i < FIRE_DW_WINDOW; i++) {
        taps.w[i]   = fire_vf_load(m->weights, FIRE_F32, lanes, i * lanes);
        taps.sum[i] = (fire_vf_t){0};
    }
    if (j->stride == 1)
        for (int64_t h = 0; h < j->in_dim[0]; h++)
            back_row(t, lanes, 1, 0, j, m, h, &dy, &taps);
    else
        for (int64_t h = 0; h < j->in_dim[0]; h++)
            if ((h + j->pad[0]) % 2 == 0)
                back_row(t, lanes, 2, 0, j, m, h, &dy, &taps);
            else
                back_row(t, lanes, 2, 1, j, m, h, &dy, &taps);
#pragma GCC unroll 9
    for (int i = 0; i < FIRE_DW_WINDOW; i++)
        fire_vf_store(m->sums, FIRE_F32, lanes, i * lanes, taps.sum[i]);
    if (j->db != NULL) sum_rows(t, lanes, &dy, m->sums + FIRE_DW_WINDOW * lanes);
    if (j->past) fire_vf_fence();
}
FIRE_SIMD_KERNEL(backward_map, backward_map_any, backward_map_bf16, backward_step,
                 j->in->dtype, j->in->block,
                 (const fire_depthwise_job_t *j, const fire_depthwise_map_t *m), j, m)

void fire_depthwise_simd_backward_map(const fire_depthwise_job_t *j,
                                      const fire_depthwise_map_t *m)
{
    backward_map(j, m);
}
