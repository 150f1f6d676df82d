/* pooling_simd.c - MAX and AVE on channels in blocks: one vector per place. For backward
 * MAX keeps, in a byte, which place of its window each output came from. */
#include <float.h>

#include "device/cpu/blocked.h"
#include "device/cpu/parallel.h"
#include "device/cpu/simd.h"
#include "layers/pooling/pooling.h"

enum { MAX_WINDOW = 255, FEW_CHANNELS = 8 };

/* Places in and out of memory; loops, of which compilers make one instruction. */
FIRE_SIMD void store_places(int lanes, fire_vi_t v, uint8_t *place)
{
    int32_t lane[FIRE_LANES];

    memcpy(lane, &v, sizeof(v));
    for (int i = 0; i < lanes; i++)
        place[i] = (uint8_t)lane[i];
}

FIRE_SIMD fire_vi_t load_places(int lanes, const uint8_t *place)
{
    int32_t   lane[FIRE_LANES] = {0};
    fire_vi_t v;

    for (int i = 0; i < lanes; i++)
        lane[i] = place[i];
    memcpy(&v, lane, sizeof(v));
    return v;
}

typedef struct pooling_simd {
    uint8_t      *place;
    int64_t       cap;
    fire_format_t in; /* of the bottom, as forward found it */
} pooling_simd_t;

const char *fire_pooling_simd_declines(const fire_layer_t *l)
{
    const fire_pooling_t *s = FIRE_STATE(l, fire_pooling_t);

    if (s->method == FIRE_POOL(STOCHASTIC)) return "it knows MAX and AVE";
    if (l->ntop > 1) return "it has no mask to give";
    if (s->shape.kernel[0] * s->shape.kernel[1] > MAX_WINDOW &&
        s->method == FIRE_POOL(MAX))
        return "the window is too large";
    if (l->bottom[0]->dim[1] < FEW_CHANNELS) return "there are few channels";
    if (fire_blob_count(l->bottom[0]) == 0) return "the input is empty";
    return NULL;
}

fire_status_t fire_pooling_simd_prepare(fire_layer_t *l)
{
    if (l->kernel_state != NULL) return FIRE_OK;
    return FIRE_NEW((pooling_simd_t **)&l->kernel_state, 1);
}

void fire_pooling_simd_release(fire_layer_t *l)
{
    pooling_simd_t *r = l->kernel_state;

    if (r != NULL) fire_free(r->place);
    fire_free(r);
    l->kernel_state = NULL;
}

/* One axis of a window: the part inside the image, and how far that is from where the
 * window begins. */
typedef struct side {
    int64_t begin, end, skip, length;
} side_t;

FIRE_SIMD side_t side_at(const fire_pool_windows_t *p, int axis, int64_t output)
{
    int64_t from = output * p->stride[axis] - p->pad[axis], to = from + p->kernel[axis];
    int64_t reach = p->in[axis] + p->pad[axis];
    side_t  s     = {.begin = from < 0 ? 0 : from,
                     .end   = to < p->in[axis] ? to : p->in[axis]};

    s.skip   = s.begin - from;
    s.length = (to < reach ? to : reach) - from; /* padding counts, overhang does not */
    return s;
}

/* The part of a window that is inside the image. */
typedef struct window {
    int64_t at;            /* element of its first place in a block */
    int64_t number;        /* of this place, counted from the window's corner */
    int64_t rows, columns; /* inside */
    int64_t width;         /* of the whole window */
} window_t;

FIRE_SIMD window_t window_at(const fire_pool_windows_t *p, int lanes, side_t rows,
                             side_t columns)
{
    return (window_t){.at      = (rows.begin * p->in[1] + columns.begin) * lanes,
                      .number  = rows.skip * p->kernel[1] + columns.skip,
                      .rows    = rows.end - rows.begin,
                      .columns = columns.end - columns.begin,
                      .width   = p->kernel[1]};
}

/* The usual window, all of it inside, has sides that compilers know: loops over it are
 * unrolled. */
FIRE_SIMD bool is_3x3(const window_t *w)
{
    return w->rows == 3 && w->columns == 3 && w->width == 3 && w->number == 0;
}

FIRE_SIMD window_t just_3x3(int64_t at)
{
    return (window_t){.at = at, .rows = 3, .columns = 3, .width = 3};
}

FIRE_SIMD void try_place(fire_vf_t v, int i, fire_vf_t *best, fire_vi_t *from)
{
    fire_vi_t above = v > *best;

    *best = fire_vf_select(above, v, *best);
    *from = (above & fire_vi_all(i)) | (~above & *from);
}

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
        side_t rows = side_at(p, 0, row);

        for (int64_t column = 0; column < p->out[1]; column++, o += lanes) {
            window_t  w    = window_at(p, lanes, rows, side_at(p, 1, column));
            fire_vf_t best = fire_vf_all(-FLT_MAX);
            fire_vi_t from = fire_vi_all(MAX_WINDOW);

            if (is_3x3(&w))
                max_window(t, lanes, just_3x3(w.at), step, x, &best, &from);
            else
                max_window(t, lanes, w, step, x, &best, &from);
            fire_vf_store(y, t, lanes, o, best);
            if (place != NULL) store_places(lanes, from, place + o);
        }
    }
}

/* bf16 without arithmetic: with the sign turned over, bits order as integers do. What is
 * above infinity is NaN, which float32 does not find larger than anything either. */
typedef int16_t bits_t __attribute__((vector_size(32)));

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
        side_t rows = side_at(p, 0, row);

        for (int64_t column = 0; column < p->out[1]; column++, o += FIRE_LANES) {
            window_t w    = window_at(p, FIRE_LANES, rows, side_at(p, 1, column));
            bits_t   best = {0}, from = {0}, v;

            best += lowest;
            from += MAX_WINDOW;
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
        side_t rows = side_at(p, 0, row);

        for (int64_t column = 0; column < p->out[1]; column++, o += lanes) {
            side_t    columns = side_at(p, 1, column);
            window_t  w       = window_at(p, lanes, rows, columns);
            float     area    = (float)(rows.length * columns.length);
            fire_vf_t sum     = {0};

            for (int64_t r = 0; r < w.rows; r++)
                for (int64_t c = 0; c < w.columns; c++)
                    sum += fire_vf_load(x, t, lanes, w.at + (r * p->in[1] + c) * lanes);
            /* a window behind the image is empty: 0, not 0 / 0 */
            fire_vf_store(y, t, lanes, o, sum / fire_vf_all(area != 0 ? area : 1));
        }
    }
}

/* AVE shares the gradient of an output out evenly. */
FIRE_SIMD void share_block(fire_dtype_t t, int lanes, const fire_pool_windows_t *p,
                           const void *dy, float *share)
{
    for (int64_t row = 0, o = 0; row < p->out[0]; row++) {
        int64_t length = side_at(p, 0, row).length;

        for (int64_t column = 0; column < p->out[1]; column++, o += lanes) {
            float area = (float)(length * side_at(p, 1, column).length);

            fire_vf_store(share, FIRE_F32, lanes, o,
                          fire_vf_load(dy, t, lanes, o) / fire_vf_all(area));
        }
    }
}

/* Along one axis, the windows over place `at`. */
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

/* Sums for places `first` ... first + n - 1 of row h += the shares that windows in
 * column c have for them; of MAX, those which chose them. */
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

/* Row h of the image, place by place. from, t: number formats of dy and dx */
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

/* The same, window by window: each is read once for all its places. width, stride: of
 * windows along the row, as constants; width >= stride */
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

/* What all blocks of one pass have in common. */
typedef struct pass {
    const fire_pool_windows_t *shape;
    const fire_blocked_t      *in, *out;
    bool                       max;
} pass_t;

FIRE_SIMD void forward_step(fire_dtype_t t, int lanes, const pass_t *s, const void *x,
                            void *y, uint8_t *place)
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
                 (const pass_t *s, const void *x, void *y, uint8_t *place), s, x, y,
                 place)

FIRE_SIMD void backward_step(fire_dtype_t t, int lanes, const pass_t *s, const void *dy,
                             const uint8_t *place, float *share, void *dx)
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
                 (const pass_t *s, const void *dy, const uint8_t *place, float *share,
                  void *dx),
                 s, dy, place, share, dx)

static fire_status_t begin(const fire_layer_t *l, const fire_format_t *in,
                           fire_format_t *out_p, pass_t *pass_p)
{
    const fire_pooling_t *s = FIRE_STATE(l, fire_pooling_t);

    FIRE_TRY(fire_blob_format_like(l->top[0], in, out_p));
    *pass_p = (pass_t){.shape = &s->shape,
                       .in    = fire_blocked_of(in),
                       .out   = fire_blocked_of(out_p),
                       .max   = s->method == FIRE_POOL(MAX)};
    return FIRE_OK;
}

/* Bytes of one block of one image. */
static size_t step(const fire_blocked_t *b)
{
    return (size_t)(b->plane * b->block) * fire_dtype_size(b->dtype);
}

fire_status_t fire_pooling_simd_forward(fire_layer_t *l)
{
    pooling_simd_t *r     = l->kernel_state;
    uint8_t        *place = NULL;
    fire_format_t   out;
    pass_t          pass;
    char           *x, *y;

    FIRE_TRY(fire_blob_blocked(l->bottom[0], FIRE_DATA, &r->in));
    FIRE_TRY(begin(l, &r->in, &out, &pass));
    FIRE_IN_AS(l->bottom[0], FIRE_DATA, &r->in, &x);
    FIRE_OUT_AS(l->top[0], FIRE_DATA, &out, &y);
    if (pass.max && l->propagate_down[0]) {
        FIRE_TRY(
            fire_grow(&r->place, &r->cap, fire_blob_raw_count(l->top[0], &out), 1));
        place = r->place;
    }
    FIRE_PARALLEL(k, pass.in->num * pass.in->blocks, true)
    forward_block(&pass, x + (size_t)k * step(pass.in), y + (size_t)k * step(pass.out),
                  place != NULL ? place + k * pass.out->plane * pass.out->block : NULL);
    return FIRE_OK;
}

/* share: for AVE, room of each thread's own */
static void backward_blocks(const pass_t *s, const char *dy, const uint8_t *place,
                            int64_t threads, float *share, char *dx)
{
    int64_t image = s->out->plane * s->out->block;

    FIRE_PARALLEL(i, threads, true)
    for (int64_t k = i; k < s->in->num * s->in->blocks; k += threads)
        backward_block(s, dy + (size_t)k * step(s->out),
                       s->max ? place + k * image : NULL,
                       s->max ? NULL : share + i * image, dx + (size_t)k * step(s->in));
}

fire_status_t fire_pooling_simd_backward(fire_layer_t *l)
{
    const pooling_simd_t *r       = l->kernel_state;
    int64_t               threads = fire_threads();
    fire_format_t         out;
    pass_t                pass;
    char                 *dy, *dx;
    float                *share = NULL;
    size_t                bytes;

    if (!l->propagate_down[0]) return FIRE_OK;
    FIRE_TRY(begin(l, &r->in, &out, &pass));
    FIRE_IN_AS(l->top[0], FIRE_DIFF, &out, &dy);
    FIRE_OUT_AS(l->bottom[0], FIRE_DIFF, &r->in, &dx);
    bytes = (size_t)(threads * pass.out->plane * pass.out->block) * sizeof(float);
    if (!pass.max) FIRE_TRY(fire_pool_take(l->ctx->pool, bytes, (void **)&share));
    backward_blocks(&pass, dy, r->place, threads, share, dx);
    fire_pool_give(l->ctx->pool, share);
    return FIRE_OK;
}
