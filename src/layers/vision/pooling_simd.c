/* pooling_simd.c - MAX and AVE on channels in blocks: one vector per place. For backward
 * MAX keeps, in a byte, which place of its window each output came from. */
#include <float.h>

#include "device/cpu/blocked.h"
#include "device/cpu/parallel.h"
#include "device/cpu/simd.h"
#include "layers/vision/pooling.h"

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

FIRE_SIMD side_t side_at(const fire_pool_t *p, int axis, int64_t output)
{
    int64_t from = output * p->stride[axis] - p->pad[axis], to = from + p->kernel[axis];
    int64_t reach = p->in[axis] + p->pad[axis];
    side_t  s     = {.begin = from < 0 ? 0 : from,
                     .end   = to < p->in[axis] ? to : p->in[axis]};

    s.skip   = s.begin - from;
    s.length = (to < reach ? to : reach) - from; /* padding counts, overhang does not */
    return s;
}

/* for each place under a window: i is its number, counted from the window's corner, `at`
 * its element in a block */
#define EACH_PLACE(p, rows, columns, lanes, i, at)                            \
    for (int64_t h_ = (rows).begin; h_ < (rows).end; h_++)                    \
        for (int64_t i = (h_ - (rows).begin + (rows).skip) * (p)->kernel[1] + \
                         (columns).skip,                                      \
                     at = (h_ * (p)->in[1] + (columns).begin) * (lanes),      \
                     n_ = (columns).end - (columns).begin;                    \
             n_ > 0; n_--, i++, at += (lanes))

/* One block of one image. */
FIRE_SIMD void max_block(fire_dtype_t t, int lanes, const fire_pool_t *p, const void *x,
                         void *y, uint8_t *place)
{
    for (int64_t row = 0, o = 0; row < p->out[0]; row++) {
        side_t rows = side_at(p, 0, row);

        for (int64_t column = 0; column < p->out[1]; column++, o += lanes) {
            side_t    columns = side_at(p, 1, column);
            fire_vf_t best    = fire_vf_all(-FLT_MAX);
            fire_vi_t from    = fire_vi_all(MAX_WINDOW);

            EACH_PLACE(p, rows, columns, lanes, i, at)
            {
                fire_vf_t v     = fire_vf_load(x, t, lanes, at);
                fire_vi_t above = v > best;

                best = fire_vf_select(above, v, best);
                from = (above & fire_vi_all((int32_t)i)) | (~above & from);
            }
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

FIRE_SIMD void max_bits(const fire_pool_t *p, const uint16_t *x, uint16_t *y,
                        uint8_t *place)
{
    const int16_t infinity = 0x7f80, lowest = -0x7f80; /* in order: -FLT_MAX */

    for (int64_t row = 0, o = 0; row < p->out[0]; row++) {
        side_t rows = side_at(p, 0, row);

        for (int64_t column = 0; column < p->out[1]; column++, o += FIRE_LANES) {
            side_t columns = side_at(p, 1, column);
            bits_t best = {0}, from = {0}, v;

            best += lowest;
            from += MAX_WINDOW;
            EACH_PLACE(p, rows, columns, FIRE_LANES, i, at)
            {
                bits_t above;

                memcpy(&v, x + at, sizeof(v));
                v     = in_order(v);
                above = (v > best) & (v <= infinity);
                best  = (above & v) | (~above & best);
                from  = (above & (int16_t)i) | (~above & from);
            }
            v = in_order(best);
            memcpy(y + o, &v, sizeof(v));
            for (int i = 0; i < FIRE_LANES && place != NULL; i++)
                place[o + i] = (uint8_t)from[i];
        }
    }
}

FIRE_SIMD void ave_block(fire_dtype_t t, int lanes, const fire_pool_t *p, const void *x,
                         void *y)
{
    for (int64_t row = 0, o = 0; row < p->out[0]; row++) {
        side_t rows = side_at(p, 0, row);

        for (int64_t column = 0; column < p->out[1]; column++, o += lanes) {
            side_t    columns = side_at(p, 1, column);
            float     area    = (float)(rows.length * columns.length);
            fire_vf_t sum     = {0};

            EACH_PLACE(p, rows, columns, lanes, i, at)
            sum += fire_vf_load(x, t, lanes, at);
            fire_vf_store(y, t, lanes, o, sum / fire_vf_all(area));
        }
    }
}

/* What backward sums up in: gradients of a row of outputs, and of the whole image. */
typedef struct sums {
    float *row, *image;
} sums_t;

/* The gradients of one row of outputs; AVE shares them out evenly. */
FIRE_SIMD void read_row(fire_dtype_t t, int lanes, const fire_pool_t *p, bool max,
                        int64_t row, const void *dy, float *d)
{
    int64_t length = side_at(p, 0, row).length;

    for (int64_t c = 0; c < p->out[1]; c++) {
        fire_vf_t v = fire_vf_load(dy, t, lanes, (row * p->out[1] + c) * lanes);

        if (!max) v /= fire_vf_all((float)(length * side_at(p, 1, c).length));
        fire_vf_store(d, FIRE_F32, lanes, c * lanes, v);
    }
}

/* Windows of one row give their places number `tap` what is due; of these the first and
 * the window's step are `to` and `step` elements into the image. */
FIRE_SIMD void give_tap(int lanes, int64_t n, const float *d, const uint8_t *place,
                        int64_t tap, float *to, int64_t step)
{
    for (int64_t i = 0; i < n * lanes; i += lanes, to += step) {
        fire_vf_t v = fire_vf_load(d, FIRE_F32, lanes, i);

        if (place != NULL)
            v = fire_vf_where(
                load_places(lanes, place + i) == fire_vi_all((int32_t)tap), v);
        fire_vf_store(to, FIRE_F32, lanes, 0, fire_vf_load(to, FIRE_F32, lanes, 0) + v);
    }
}

/* The same for all taps in row h of the image; the last tap first, so that each place
 * gets its shares in the windows' order. */
FIRE_SIMD void give_row(int lanes, const fire_pool_t *p, int64_t row, int64_t h,
                        const uint8_t *place, const sums_t *s)
{
    int64_t stride = p->stride[1], tap0 = (h + p->pad[0] - row * p->stride[0]);

    for (int64_t w = p->kernel[1] - 1; w >= 0; w--) {
        int64_t shift = w - p->pad[1]; /* of window 0's place */
        int64_t first = shift >= 0 ? 0 : (stride - 1 - shift) / stride;
        int64_t end   = (p->in[1] - shift + stride - 1) / stride;

        if (end > p->out[1]) end = p->out[1];
        give_tap(lanes, end - first, s->row + first * lanes,
                 place != NULL ? place + (row * p->out[1] + first) * lanes : NULL,
                 tap0 * p->kernel[1] + w,
                 s->image + (h * p->in[1] + shift + first * stride) * lanes,
                 stride * lanes);
    }
}

/* Rows begin ... end - 1 of the image are complete. */
FIRE_SIMD void write_rows(fire_dtype_t t, int lanes, const fire_pool_t *p,
                          int64_t begin, int64_t end, const float *image, void *dx)
{
    for (int64_t i = begin * p->in[1] * lanes; i < end * p->in[1] * lanes; i += lanes)
        fire_vf_store(dx, t, lanes, i, fire_vf_load(image, FIRE_F32, lanes, i));
}

/* Sums stay float32; a row is cleared before its first window and written behind its
 * last, while it is in the cache. */
FIRE_SIMD void back_block(fire_dtype_t t, int lanes, const fire_pool_t *p,
                          const void *dy, const uint8_t *place, const sums_t *s,
                          void *dx)
{
    int64_t clear = 0, done = 0;

    for (int64_t row = 0; row <= p->out[0]; row++) {
        side_t  rows = side_at(p, 0, row);
        int64_t end  = row < p->out[0] ? rows.end : p->in[0];

        if (end > clear)
            memset(s->image + clear * p->in[1] * lanes, 0,
                   (size_t)((end - clear) * p->in[1] * lanes) * sizeof(float));
        if (end > clear) clear = end;
        if (row < p->out[0]) read_row(t, lanes, p, place != NULL, row, dy, s->row);
        for (int64_t h = rows.begin; row < p->out[0] && h < rows.end; h++)
            give_row(lanes, p, row, h, place, s);
        end = row < p->out[0] ? (row + 1) * p->stride[0] - p->pad[0] : p->in[0];
        if (end > clear) end = clear;
        if (end <= done) continue;
        if (dx != s->image) write_rows(t, lanes, p, done, end, s->image, dx);
        done = end;
    }
}

/* What all blocks of one pass have in common. */
typedef struct pass {
    const fire_pool_t    *shape;
    const fire_blocked_t *in, *out;
    bool                  max;
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
FIRE_SIMD_KERNEL(forward_block, forward_step, s->in->dtype, s->in->block,
                 (const pass_t *s, const void *x, void *y, uint8_t *place), s, x, y,
                 place)

FIRE_SIMD void backward_step(fire_dtype_t t, int lanes, const pass_t *s, const void *dy,
                             const uint8_t *place, const sums_t *sums, void *dx)
{
    if (s->max)
        back_block(t, lanes, s->shape, dy, place, sums, dx);
    else
        back_block(t, lanes, s->shape, dy, NULL, sums, dx);
}
FIRE_SIMD_KERNEL(backward_block, backward_step, s->in->dtype, s->in->block,
                 (const pass_t *s, const void *dy, const uint8_t *place,
                  const sums_t *sums, void *dx),
                 s, dy, place, sums, dx)

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

/* Every thread has sums of its own. In float32, the image's are dx itself. */
static void backward_blocks(const pass_t *s, const char *dy, const uint8_t *place,
                            int64_t threads, float *scratch, char *dx)
{
    int64_t row = s->shape->out[1] * s->out->block, image = s->in->plane * s->in->block;

    FIRE_PARALLEL(i, threads, true)
    for (int64_t k = i; k < s->in->num * s->in->blocks; k += threads) {
        char  *to   = dx + (size_t)k * step(s->in);
        sums_t sums = {.row = scratch + i * (row + image)};

        sums.image = s->in->dtype == FIRE_F32 ? (float *)to : sums.row + row;
        backward_block(s, dy + (size_t)k * step(s->out),
                       s->max ? place + k * s->out->plane * s->out->block : NULL, &sums,
                       to);
    }
}

fire_status_t fire_pooling_simd_backward(fire_layer_t *l)
{
    const pooling_simd_t *r       = l->kernel_state;
    int64_t               threads = fire_threads();
    fire_format_t         out;
    pass_t                pass;
    char                 *dy, *dx;
    float                *scratch;
    size_t                bytes;

    if (!l->propagate_down[0]) return FIRE_OK;
    FIRE_TRY(begin(l, &r->in, &out, &pass));
    FIRE_IN_AS(l->top[0], FIRE_DIFF, &out, &dy);
    FIRE_OUT_AS(l->bottom[0], FIRE_DIFF, &r->in, &dx);
    bytes = (size_t)((pass.shape->out[1] + pass.in->plane) * pass.in->block) *
            sizeof(float);
    FIRE_TRY(fire_pool_take(l->ctx->pool, (size_t)threads * bytes, (void **)&scratch));
    backward_blocks(&pass, dy, r->place, threads, scratch, dx);
    fire_pool_give(l->ctx->pool, scratch);
    return FIRE_OK;
}
