/* channel_norm.c - see channel_norm.h. A pass visits all blocks (of 16 or 8 channels)
 * of all images twice: for sums, then for results. */
#include "layers/norm/channel_norm.h"

#include <math.h>

#include "device/cpu/parallel.h"
#include "device/cpu/simd.h"

enum { ARRAYS = 8, CHUNK = 32 /* places */ };

fire_status_t fire_channel_norm_fit(fire_channel_norm_t *c, const fire_blocked_t *b)
{
    int64_t n       = b->blocks * b->block;
    float **array[] = {&c->mean,  &c->rest,  &c->variance, &c->inverse, &c->gain,
                       &c->shift, &c->dgain, &c->dshift,   &c->partial};

    FIRE_TRY(
        fire_grow(&c->memory, &c->cap, (ARRAYS + 2 * b->num) * n, sizeof(*c->memory)));
    for (int i = 0; i <= ARRAYS; i++)
        *array[i] = c->memory + i * n;
    for (int64_t k = 0; k < n; k++) {
        c->mean[k] = c->rest[k] = c->shift[k] = 0.0f;
        c->inverse[k]                         = 1.0f;
        c->gain[k]                            = k < b->channels ? 1.0f : 0.0f;
    }
    return FIRE_OK;
}

void fire_channel_norm_free(fire_channel_norm_t *c)
{
    fire_free(c->memory);
    *c = (fire_channel_norm_t){0};
}

/* ---- one block of one image; c0 is its first channel ---- */

/* Mean of x, and sum of squared differences from it, by Chan's method chunk by chunk:
 * accurate where the mean is large, and the second read of a chunk hits the cache. */
FIRE_SIMD void measure_block(fire_dtype_t t, int lanes, int64_t plane, const void *x,
                             float *mean_p, float *squares_p)
{
    fire_vf_t mean = {0}, squares = {0};

    for (int64_t p = 0; p < plane; p += CHUNK) {
        int64_t   end = p + CHUNK < plane ? p + CHUNK : plane;
        float     n = (float)(end - p), share = n / (float)end;
        fire_vf_t sum = {0}, own = {0}, delta;

        for (int64_t i = p; i < end; i++)
            sum += fire_vf_load(x, t, lanes, i * lanes);
        sum /= n;
        for (int64_t i = p; i < end; i++) {
            fire_vf_t d = fire_vf_load(x, t, lanes, i * lanes) - sum;

            own += d * d;
        }
        delta = sum - mean;
        mean += delta * share;
        squares += own + delta * delta * ((float)p * share);
    }
    fire_vf_store(mean_p, FIRE_F32, lanes, 0, mean);
    fire_vf_store(squares_p, FIRE_F32, lanes, 0, squares);
}

FIRE_SIMD void apply_block(fire_dtype_t t, int lanes, const fire_channel_norm_t *c,
                           int64_t c0, int64_t plane, const void *x, void *y)
{
    fire_vf_t mean  = fire_vf_load(c->mean, FIRE_F32, lanes, c0);
    fire_vf_t shift = fire_vf_load(c->shift, FIRE_F32, lanes, c0);
    fire_vf_t scale = fire_vf_load(c->inverse, FIRE_F32, lanes, c0) *
                      fire_vf_load(c->gain, FIRE_F32, lanes, c0);

    if (!c->relu)
        for (int64_t i = 0; i < plane * lanes; i += lanes)
            fire_vf_store(y, t, lanes, i,
                          (fire_vf_load(x, t, lanes, i) - mean) * scale + shift);
    else
        for (int64_t i = 0; i < plane * lanes; i += lanes) {
            fire_vf_t z = (fire_vf_load(x, t, lanes, i) - mean) * scale + shift;

            fire_vf_store(y, t, lanes, i, fire_vf_select(z <= 0.0f, z * c->slope, z));
        }
}

/* The gradient before the ReLU, from z, its input in forward, and d, the one behind
 * it. */
#define BEHIND_RELU(z, d) \
    (c->relu ? fire_vf_select((z) > 0.0f, (d), (d)*c->slope) : (d))

/* Sums over the plane of dy and of dy * (x - mean). */
FIRE_SIMD void sum_block(fire_dtype_t t, int lanes, const fire_channel_norm_t *c,
                         int64_t c0, int64_t plane, const void *x, const void *dy,
                         float *sum_p, float *product_p)
{
    fire_vf_t mean  = fire_vf_load(c->mean, FIRE_F32, lanes, c0);
    fire_vf_t shift = fire_vf_load(c->shift, FIRE_F32, lanes, c0);
    fire_vf_t scale = fire_vf_load(c->inverse, FIRE_F32, lanes, c0) *
                      fire_vf_load(c->gain, FIRE_F32, lanes, c0);
    fire_vf_t sum = {0}, product = {0};

    for (int64_t p = 0; p < plane; p += CHUNK) {
        int64_t   end = p + CHUNK < plane ? p + CHUNK : plane;
        fire_vf_t s = {0}, q = {0};

        for (int64_t i = p * lanes; i < end * lanes; i += lanes) {
            fire_vf_t away = fire_vf_load(x, t, lanes, i) - mean;
            fire_vf_t d    = fire_vf_load(dy, t, lanes, i);

            d = BEHIND_RELU(away * scale + shift, d);
            s += d;
            q += d * away;
        }
        sum += s;
        product += q;
    }
    fire_vf_store(sum_p, FIRE_F32, lanes, 0, sum);
    fire_vf_store(product_p, FIRE_F32, lanes, 0, product);
}

/* With statistics of the batch itself over m elements:
 *   dx = scale * (dy - mean(dy) - (x - mean) * mean(dy (x - mean)) * inverse^2) */
FIRE_SIMD void back_block(fire_dtype_t t, int lanes, const fire_channel_norm_t *c,
                          int64_t c0, int64_t plane, float m, const void *x,
                          const void *dy, void *dx)
{
    fire_vf_t mean    = fire_vf_load(c->mean, FIRE_F32, lanes, c0);
    fire_vf_t shift   = fire_vf_load(c->shift, FIRE_F32, lanes, c0);
    fire_vf_t inverse = fire_vf_load(c->inverse, FIRE_F32, lanes, c0);
    fire_vf_t scale   = inverse * fire_vf_load(c->gain, FIRE_F32, lanes, c0);
    fire_vf_t mean_dy = {0}, slope = {0};

    if (c->measured) {
        slope   = fire_vf_load(c->dgain, FIRE_F32, lanes, c0) * inverse / m;
        mean_dy = fire_vf_load(c->dshift, FIRE_F32, lanes, c0) / m -
                  fire_vf_load(c->rest, FIRE_F32, lanes, c0) * slope;
    }
    for (int64_t i = 0; i < plane * lanes; i += lanes) {
        fire_vf_t away = fire_vf_load(x, t, lanes, i) - mean;
        fire_vf_t d    = fire_vf_load(dy, t, lanes, i);

        d = BEHIND_RELU(away * scale + shift, d);
        fire_vf_store(dx, t, lanes, i, (d - mean_dy - away * slope) * scale);
    }
}

/* ---- all blocks ---- */

/* Arguments of a pass; out: y or dx. */
typedef struct pass {
    fire_channel_norm_t  *c;
    const fire_blocked_t *b;
    float                 eps;
    const void           *x, *dy;
    void                 *out;
} pass_t;

/* A step of a pass: block k of image n. */
typedef void block_step_t(const pass_t *s, int64_t n, int64_t k);

static size_t offset(const fire_blocked_t *b, int64_t n, int64_t k)
{
    return (size_t)((n * b->blocks + k) * b->plane * b->block) *
           fire_dtype_size(b->dtype);
}

/* Partial sum `row` (0 or 1) of image n, block k. */
static float *partial(const pass_t *s, int row, int64_t n, int64_t k)
{
    return s->c->partial + ((2 * n + row) * s->b->blocks + k) * s->b->block;
}

FIRE_SIMD void measure_step(fire_dtype_t t, int lanes, const pass_t *s, int64_t n,
                            int64_t k)
{
    const fire_blocked_t *b = s->b;

    measure_block(t, lanes, b->plane, (const char *)s->x + offset(b, n, k),
                  partial(s, 0, n, k), partial(s, 1, n, k));
}
FIRE_SIMD_KERNEL(measure, measure_any, measure_bf16, measure_step, s->b->dtype,
                 s->b->block, (const pass_t *s, int64_t n, int64_t k), s, n, k)

FIRE_SIMD void apply_step(fire_dtype_t t, int lanes, const pass_t *s, int64_t n,
                          int64_t k)
{
    const fire_blocked_t *b  = s->b;
    size_t                at = offset(b, n, k);

    apply_block(t, lanes, s->c, k * b->block, b->plane, (const char *)s->x + at,
                (char *)s->out + at);
}
FIRE_SIMD_KERNEL(apply, apply_any, apply_bf16, apply_step, s->b->dtype, s->b->block,
                 (const pass_t *s, int64_t n, int64_t k), s, n, k)

FIRE_SIMD void sum_step(fire_dtype_t t, int lanes, const pass_t *s, int64_t n,
                        int64_t k)
{
    const fire_blocked_t *b  = s->b;
    size_t                at = offset(b, n, k);

    sum_block(t, lanes, s->c, k * b->block, b->plane, (const char *)s->x + at,
              (const char *)s->dy + at, partial(s, 0, n, k), partial(s, 1, n, k));
}
FIRE_SIMD_KERNEL(sum, sum_any, sum_bf16, sum_step, s->b->dtype, s->b->block,
                 (const pass_t *s, int64_t n, int64_t k), s, n, k)

FIRE_SIMD void back_step(fire_dtype_t t, int lanes, const pass_t *s, int64_t n,
                         int64_t k)
{
    const fire_blocked_t *b  = s->b;
    size_t                at = offset(b, n, k);

    if (s->out != NULL)
        back_block(t, lanes, s->c, k * b->block, b->plane, (float)(b->num * b->plane),
                   (const char *)s->x + at, (const char *)s->dy + at,
                   (char *)s->out + at);
}
FIRE_SIMD_KERNEL(back, back_any, back_bf16, back_step, s->b->dtype, s->b->block,
                 (const pass_t *s, int64_t n, int64_t k), s, n, k)

/* From the images' means and squares to the batch's. With few values per channel, dx is
 * a small difference of large terms, to which the rounding of the mean matters: so its
 * remainder is kept in c->rest. */
static void combine_measures(const pass_t *s, int64_t k)
{
    fire_channel_norm_t *c = s->c;

    for (int64_t lane = 0, i = k * s->b->block; lane < s->b->block; lane++, i++) {
        double mean = 0, squares = 0;

        for (int64_t n = 0; n < s->b->num; n++) {
            double delta = partial(s, 0, n, k)[lane] - mean,
                   share = 1.0 / (double)(n + 1);

            mean += delta * share;
            squares += partial(s, 1, n, k)[lane] +
                       delta * delta * (double)(n * s->b->plane) * share;
        }
        c->mean[i]     = (float)mean;
        c->rest[i]     = (float)(mean - c->mean[i]);
        c->variance[i] = (float)(squares / (double)(s->b->num * s->b->plane));
        c->inverse[i]  = i < s->b->channels ? 1.0f / sqrtf(c->variance[i] + s->eps) : 0;
    }
}

static void combine_sums(const pass_t *s, int64_t k)
{
    fire_channel_norm_t *c = s->c;

    for (int64_t lane = 0, i = k * s->b->block; lane < s->b->block; lane++, i++) {
        double dy = 0, product = 0;

        for (int64_t n = 0; n < s->b->num; n++) {
            dy += partial(s, 0, n, k)[lane];
            product += partial(s, 1, n, k)[lane];
        }
        c->dshift[i] = (float)dy;
        c->dgain[i]  = (float)((product - c->rest[i] * dy) * c->inverse[i]);
    }
}

/* Run take() for all blocks of all images, combine() for each block, then give(). Where
 * there are blocks for all threads, each thread does a block from begin to end while it
 * is in its cache; else threads share the images too. take NULL: no sums */
static void run(const pass_t *s, block_step_t                             *take,
                void (*combine)(const pass_t *s, int64_t k), block_step_t *give)
{
    int64_t blocks = s->b->blocks, num = s->b->num;

    if (blocks >= fire_threads()) {
        FIRE_PARALLEL(k, blocks, true)
        {
            for (int64_t n = 0; n < num && take != NULL; n++)
                take(s, n, k);
            if (take != NULL) combine(s, k);
            for (int64_t n = 0; n < num; n++)
                give(s, n, k);
        }
        return;
    }
    if (take != NULL) {
        FIRE_PARALLEL(i, num * blocks, true)
        take(s, i / blocks, i % blocks);
        for (int64_t k = 0; k < blocks; k++)
            combine(s, k);
    }
    FIRE_PARALLEL(i, num * blocks, true)
    give(s, i / blocks, i % blocks);
}

void fire_channel_norm_forward(fire_channel_norm_t *c, const fire_blocked_t *b,
                               float eps, const void *x, void *y)
{
    pass_t s = {.c = c, .b = b, .eps = eps, .x = x, .out = y};

    run(&s, c->measured ? measure : NULL, combine_measures, apply);
}

void fire_channel_norm_apply(fire_channel_norm_t *c, const fire_blocked_t *b,
                             const void *x, void *y)
{
    pass_t s = {.c = c, .b = b, .x = x, .out = y};

    run(&s, NULL, combine_measures, apply);
}

void fire_channel_norm_backward(fire_channel_norm_t *c, const fire_blocked_t *b,
                                const void *x, const void *dy, void *dx)
{
    pass_t s = {.c = c, .b = b, .x = x, .dy = dy, .out = dx};

    run(&s, sum, combine_sums, back);
}
