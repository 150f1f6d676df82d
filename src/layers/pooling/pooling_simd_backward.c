/* pooling_simd_backward.c - MAX and AVE pooling, backward, of one block of channels:
 *
 *     MAX  dx[p] = sum of dy[o] over the windows o whose largest value was at place p
 *     AVE  dx[p] = sum of dy[o] / area of o over the windows o that hold place p
 *
 * Each place of dx is summed in a register and stored once, in the order of the
 * windows, so that bits do not depend on the number of threads. */
#include "layers/pooling/pooling_simd.h"

/* A byte per lane. Written as a loop, of which compilers make one instruction. */
FIRE_SIMD fire_vi_t load_places(int lanes, const uint8_t *place)
{
    int32_t   lane[FIRE_LANES] = {0};
    fire_vi_t v;

    for (int i = 0; i < lanes; i++)
        lane[i] = place[i];
    memcpy(&v, lane, sizeof(v));
    return v;
}

/* AVE: what each place of window o receives, share[o] = dy[o] / area, in float32. */
FIRE_SIMD void share_block(fire_dtype_t t, int lanes, const fire_pool_windows_t *p,
                           const void *dy, float *share)
{
    for (int64_t row = 0, o = 0; row < p->out[0]; row++) {
        int64_t length = fire_pooling_side(p, 0, row).length;

        for (int64_t column = 0; column < p->out[1]; column++, o += lanes) {
            float area = (float)(length * fire_pooling_side(p, 1, column).length);

            fire_vf_store(share, FIRE_F32, lanes, o,
                          fire_vf_load(dy, t, lanes, o) / fire_vf_all(area));
        }
    }
}

/* Along one axis, the windows that hold place `at`: begin ... end - 1. */
typedef struct windows {
    int64_t begin, end;
} windows_t;

FIRE_SIMD windows_t windows_over(const fire_pool_windows_t *p, int axis, int64_t at)
{
    int64_t   place = at + p->pad[axis], before = place - p->kernel[axis];
    windows_t w = {.begin = before < 0 ? 0 : before / p->stride[axis] + 1,
                   .end   = place / p->stride[axis] + 1};

    if (w.end > p->out[axis]) w.end = p->out[axis];
    return w;
}

/* Add to the sums of places first ... first + n - 1 of row h what the windows of output
 * column c and output rows `rows` give them. MAX: dy, where the place was the largest;
 * AVE: the share. */
FIRE_SIMD void add_shares(bool max, fire_dtype_t from, int lanes,
                          const fire_pool_windows_t *p, int64_t h, windows_t rows,
                          int64_t c, int64_t first, int n, const void *dy,
                          const uint8_t *place, fire_vf_t *sum)
{
    for (int64_t r = rows.begin; r < rows.end; r++) {
        int64_t o   = (r * p->out[1] + c) * lanes;
        int64_t tap = (h + p->pad[0] - r * p->stride[0]) * p->kernel[1] + first +
                      p->pad[1] - c * p->stride[1];
        fire_vi_t chosen = {0};
        fire_vf_t v      = fire_vf_load(dy, from, lanes, o);

        if (max) chosen = load_places(lanes, place + o);
        for (int i = 0; i < n; i++)
            sum[i] +=
                max ? fire_vf_where(chosen == fire_vi_all((int32_t)tap + i), v) : v;
    }
}

/* Row h of dx, place by place: for any window. from, t: number formats of dy and dx */
FIRE_SIMD void back_row(bool max, fire_dtype_t from, fire_dtype_t t, int lanes,
                        const fire_pool_windows_t *p, int64_t h, const void *dy,
                        const uint8_t *place, void *dx)
{
    windows_t rows = windows_over(p, 0, h);

    for (int64_t w = 0; w < p->in[1]; w++) {
        windows_t columns = windows_over(p, 1, w);
        fire_vf_t sum     = {0};

        for (int64_t c = columns.begin; c < columns.end; c++)
            add_shares(max, from, lanes, p, h, rows, c, w, 1, dy, place, &sum);
        fire_vf_store(dx, t, lanes, (h * p->in[1] + w) * lanes, sum);
    }
}

/* The same window by window, for the usual ones: each dy is loaded once for all places
 * of its row, whose sums wait in registers until the last window over them is done.
 * width, stride: of windows along the row, as constants; width >= stride */
FIRE_SIMD void sweep_row(int width, int stride, bool max, fire_dtype_t from,
                         fire_dtype_t t, int lanes, const fire_pool_windows_t *p,
                         int64_t h, const void *dy, const uint8_t *place, void *dx)
{
    windows_t rows   = windows_over(p, 0, h);
    fire_vf_t sum[4] = {{0}};

    for (int64_t c = 0, w = -p->pad[1]; w < p->in[1]; c++, w += stride) {
        if (c < p->out[1])
            add_shares(max, from, lanes, p, h, rows, c, w, width, dy, place, sum);
        for (int i = 0; i < stride; i++)
            if (w + i >= 0 && w + i < p->in[1])
                fire_vf_store(dx, t, lanes, (h * p->in[1] + w + i) * lanes, sum[i]);
        for (int i = 0; i < width; i++)
            sum[i] = i + stride < width ? sum[i + stride] : (fire_vf_t){0};
    }
}

FIRE_SIMD void back_block(bool max, fire_dtype_t from, fire_dtype_t t, int lanes,
                          const fire_pool_windows_t *p, const void *dy,
                          const uint8_t *place, void *dx)
{
    int64_t width = p->kernel[1], stride = p->stride[1];

    for (int64_t h = 0; h < p->in[0]; h++)
        if (width == 3 && stride == 1)
            sweep_row(3, 1, max, from, t, lanes, p, h, dy, place, dx);
        else if (width == 3 && stride == 2)
            sweep_row(3, 2, max, from, t, lanes, p, h, dy, place, dx);
        else if (width == 2 && stride == 2)
            sweep_row(2, 2, max, from, t, lanes, p, h, dy, place, dx);
        else
            back_row(max, from, t, lanes, p, h, dy, place, dx);
}

FIRE_SIMD void backward_step(fire_dtype_t t, int lanes, const fire_pooling_pass_t *s,
                             const void *dy, const uint8_t *place, float *share,
                             void *dx)
{
    if (s->max) {
        back_block(true, t, t, lanes, s->shape, dy, place, dx);
    } else {
        share_block(t, lanes, s->shape, dy, share);
        back_block(false, FIRE_F32, t, lanes, s->shape, share, NULL, dx);
    }
}
FIRE_SIMD_KERNEL(backward_block, backward_block_any, backward_block_bf16, backward_step,
                 s->in->dtype, s->in->block,
                 (const fire_pooling_pass_t *s, const void *dy, const uint8_t *place,
                  float *share, void *dx),
                 s, dy, place, share, dx)

void fire_pooling_simd_backward_block(const fire_pooling_pass_t *s, const void *dy,
                                      const uint8_t *place, float *share, void *dx)
{
    backward_block(s, dy, place, share, dx);
}
