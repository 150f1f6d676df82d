/* pooling_simd.c - MAX and AVE on channels in blocks: one vector per place. For backward
 * MAX keeps, in a byte, which place of its window each output came from. */
#include <float.h>

#include "device/cpu/blocked.h"
#include "device/cpu/parallel.h"
#include "device/cpu/simd.h"
#include "layers/vision/pooling.h"

enum { MAX_WINDOW = 255, FEW_CHANNELS = 8 };

typedef uint8_t place_t __attribute__((vector_size(16)));

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
            place_t   b;

            EACH_PLACE(p, rows, columns, lanes, i, at)
            {
                fire_vf_t v     = fire_vf_load(x, t, lanes, at);
                fire_vi_t above = v > best;

                best = fire_vf_select(above, v, best);
                from = (above & fire_vi_all((int32_t)i)) | (~above & from);
            }
            fire_vf_store(y, t, lanes, o, best);
            if (place == NULL) continue;
            b = __builtin_convertvector(from, place_t);
            memcpy(place + o, &b, (size_t)lanes);
        }
    }
}

FIRE_SIMD void max_block_back(fire_dtype_t t, int lanes, const fire_pool_t *p,
                              const void *dy, const uint8_t *place, void *dx)
{
    memset(dx, 0, (size_t)(p->in[0] * p->in[1] * lanes) * fire_dtype_size(t));
    for (int64_t row = 0, o = 0; row < p->out[0]; row++) {
        side_t rows = side_at(p, 0, row);

        for (int64_t column = 0; column < p->out[1]; column++, o += lanes) {
            side_t    columns = side_at(p, 1, column);
            fire_vf_t d       = fire_vf_load(dy, t, lanes, o);
            place_t   b       = {0};
            fire_vi_t from;

            memcpy(&b, place + o, (size_t)lanes);
            from = __builtin_convertvector(b, fire_vi_t);
            EACH_PLACE(p, rows, columns, lanes, i, at)
            {
                fire_vf_t mine = fire_vf_where(from == fire_vi_all((int32_t)i), d);

                fire_vf_store(dx, t, lanes, at, fire_vf_load(dx, t, lanes, at) + mine);
            }
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

FIRE_SIMD void ave_block_back(fire_dtype_t t, int lanes, const fire_pool_t *p,
                              const void *dy, void *dx)
{
    memset(dx, 0, (size_t)(p->in[0] * p->in[1] * lanes) * fire_dtype_size(t));
    for (int64_t row = 0, o = 0; row < p->out[0]; row++) {
        side_t rows = side_at(p, 0, row);

        for (int64_t column = 0; column < p->out[1]; column++, o += lanes) {
            side_t    columns = side_at(p, 1, column);
            float     area    = (float)(rows.length * columns.length);
            fire_vf_t d       = fire_vf_load(dy, t, lanes, o) / fire_vf_all(area);

            EACH_PLACE(p, rows, columns, lanes, i, at)
            fire_vf_store(dx, t, lanes, at, fire_vf_load(dx, t, lanes, at) + d);
        }
    }
}

/* What all blocks of one pass have in common. */
typedef struct pass {
    const fire_pool_t    *shape;
    const fire_blocked_t *in, *out;
    bool                  max;
} pass_t;

FIRE_VECTOR static void forward_block(const pass_t *s, const void *x, void *y,
                                      uint8_t *place)
{
    if (s->max)
        FIRE_SIMD_DISPATCH(max_block, s->in->dtype, s->in->block, s->shape, x, y,
                           place);
    else
        FIRE_SIMD_DISPATCH(ave_block, s->in->dtype, s->in->block, s->shape, x, y);
}

FIRE_VECTOR static void backward_block(const pass_t *s, const void *dy,
                                       const uint8_t *place, void *dx)
{
    if (s->max)
        FIRE_SIMD_DISPATCH(max_block_back, s->in->dtype, s->in->block, s->shape, dy,
                           place, dx);
    else
        FIRE_SIMD_DISPATCH(ave_block_back, s->in->dtype, s->in->block, s->shape, dy,
                           dx);
}

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

fire_status_t fire_pooling_simd_backward(fire_layer_t *l)
{
    const pooling_simd_t *r = l->kernel_state;
    fire_format_t         out;
    pass_t                pass;
    char                 *dy, *dx;

    if (!l->propagate_down[0]) return FIRE_OK;
    FIRE_TRY(begin(l, &r->in, &out, &pass));
    FIRE_IN_AS(l->top[0], FIRE_DIFF, &out, &dy);
    FIRE_OUT_AS(l->bottom[0], FIRE_DIFF, &r->in, &dx);
    FIRE_PARALLEL(k, pass.in->num * pass.in->blocks, true)
    backward_block(&pass, dy + (size_t)k * step(pass.out),
                   pass.max ? r->place + k * pass.out->plane * pass.out->block : NULL,
                   dx + (size_t)k * step(pass.in));
    return FIRE_OK;
}
