/* pooling_simd.c - MAX and AVE pooling on blocked channels: the layer's side and the
 * work of all threads, one block of one image at a time. For backward MAX keeps, in a
 * byte, which tap of its window each output came from. */
#include "layers/pooling/pooling_simd.h"

#include "device/cpu/parallel.h"

enum { FEW_CHANNELS = 8 };

/* Kept from forward to backward. */
typedef struct pooling_simd {
    uint8_t      *place; /* MAX: taps (image, block, height, width, lane); owned */
    int64_t       cap;   /* bytes of it */
    fire_format_t in;    /* the bottom's, as forward found it */
} pooling_simd_t;

static const char *pooling_simd_declines(const fire_layer_t *l)
{
    const fire_pooling_t *s = FIRE_STATE(l, fire_pooling_t);

    if (s->nd.axes != 2) return "only for two spatial axes";
    if (s->method == FIRE_POOL(STOCHASTIC)) return "only for MAX and AVE";
    if (l->ntop > 1) return "makes no second top";
    if (s->shape.kernel[0] * s->shape.kernel[1] > FIRE_POOLING_MAX_WINDOW &&
        s->method == FIRE_POOL(MAX))
        return "the window is too large";
    if (l->bottom[0]->dim[1] < FEW_CHANNELS) return "there are few channels";
    if (fire_blob_count(l->bottom[0]) == 0) return "the input is empty";
    return NULL;
}

static fire_status_t pooling_simd_prepare(fire_layer_t *l)
{
    if (l->kernel_state != NULL) return FIRE_OK;
    return FIRE_NEW((pooling_simd_t **)&l->kernel_state, 1);
}

static void pooling_simd_release(fire_layer_t *l)
{
    pooling_simd_t *r = l->kernel_state;

    if (r != NULL) fire_free(r->place);
    fire_free(r);
    l->kernel_state = NULL;
}

static fire_status_t begin(const fire_layer_t *l, const fire_format_t *in,
                           fire_format_t *out_p, fire_pooling_pass_t *pass_p)
{
    const fire_pooling_t *s = FIRE_STATE(l, fire_pooling_t);

    FIRE_TRY(fire_blob_format_like(l->top[0], in, out_p));
    *pass_p = (fire_pooling_pass_t){.shape = &s->shape,
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

static fire_status_t pooling_simd_forward(fire_layer_t *l)
{
    pooling_simd_t     *r     = l->kernel_state;
    uint8_t            *place = NULL;
    fire_format_t       out;
    fire_pooling_pass_t pass;
    char               *x, *y;

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
    fire_pooling_simd_forward_block(
        &pass, x + (size_t)k * step(pass.in), y + (size_t)k * step(pass.out),
        place != NULL ? place + k * pass.out->plane * pass.out->block : NULL);
    return FIRE_OK;
}

/* share: for AVE, one block of the top for each thread */
static void backward_blocks(const fire_pooling_pass_t *s, const char *dy,
                            const uint8_t *place, int64_t threads, float *share,
                            char *dx)
{
    int64_t image = s->out->plane * s->out->block;

    FIRE_PARALLEL(i, threads, true)
    for (int64_t k = i; k < s->in->num * s->in->blocks; k += threads)
        fire_pooling_simd_backward_block(
            s, dy + (size_t)k * step(s->out), s->max ? place + k * image : NULL,
            s->max ? NULL : share + i * image, dx + (size_t)k * step(s->in));
}

static fire_status_t pooling_simd_backward(fire_layer_t *l)
{
    const pooling_simd_t *r       = l->kernel_state;
    int64_t               threads = fire_threads();
    fire_format_t         out;
    fire_pooling_pass_t   pass;
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

static const fire_fusion_ops_t pooling_simd_fusion = {
    .recompute      = pooling_simd_forward,
    .backward_reads = fire_reads_nothing,
};

const fire_kernel_t fire_pooling_simd = {
    .name     = "simd",
    .declines = pooling_simd_declines,
    .prepare  = pooling_simd_prepare,
    .forward  = pooling_simd_forward,
    .backward = pooling_simd_backward,
    .release  = pooling_simd_release,
    .fusion   = &pooling_simd_fusion,
};
