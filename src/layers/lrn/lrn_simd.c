/* lrn_simd.c - LRN across channels on blocked arrays. All channels of one place are
 * copied to small buffers, in which neighbours are contiguous and have zeros around
 * them. Backward computes the scale again: faster than storing and loading it. Threads
 * share the places, and each place is computed by one thread. */
#include <math.h>

#include "device/cpu/blocked.h"
#include "device/cpu/parallel.h"
#include "device/cpu/simd.h"
#include "layers/lrn/lrn.h"

enum { MAX_CHANNELS = 4096, MAX_SIZE = 33, PLACES = 64 /* of a piece of work */ };

static const char *lrn_simd_declines(const fire_layer_t *l)
{
    const fire_lrn_t *s = FIRE_STATE(l, fire_lrn_t);

    if (s->within) return "normalises across channels only";
    if (l->bottom[0]->dim[1] > MAX_CHANNELS || s->size > MAX_SIZE)
        return "there are too many channels";
    if (fire_blob_count(l->bottom[0]) == 0) return "the input is empty";
    return NULL;
}

/* Channels of one place, with half a window of zeros on both sides. */
typedef float place_t[MAX_CHANNELS + MAX_SIZE + FIRE_LANES];

/* Clear all that the windows reach. */
static void clear(const fire_lrn_t *s, const fire_blocked_t *b, float *place)
{
    memset(place, 0,
           (size_t)(b->blocks * b->block + s->size + FIRE_LANES) * sizeof(*place));
}

/* Sums over the windows of 16 neighbouring channels; first: begin of the first
 * window. */
FIRE_SIMD fire_vf_t window_sum(int64_t size, const float *first)
{
    fire_vf_t sum = {0};

    for (int64_t j = 0; j < size; j++)
        sum += fire_vf_load(first, FIRE_F32, FIRE_LANES, j);
    return sum;
}

FIRE_SIMD fire_vf_t square_root(fire_vf_t v)
{
    float lane[FIRE_LANES];

    memcpy(lane, &v, sizeof(v));
    for (int i = 0; i < FIRE_LANES; i++)
        lane[i] = sqrtf(lane[i]);
    memcpy(&v, lane, sizeof(v));
    return v;
}

/* v ^ -beta. beta is 0.75 in nearly all nets, for which two square roots do; with bf16
 * (t) the CPU's 14-bit estimates are enough. */
FIRE_SIMD fire_vf_t power(fire_dtype_t t, fire_vf_t v, float beta)
{
    float lane[FIRE_LANES];

    if (beta == 0.75f && t == FIRE_BF16_CPU) {
        fire_vf_t root = fire_vf_rsqrt_cpu(v);

        return root * fire_vf_rsqrt_cpu(v * root);
    }
    if (beta == 0.75f) {
        fire_vf_t root = square_root(v);

        return 1.0f / (root * square_root(root));
    }
    memcpy(lane, &v, sizeof(v));
    for (int i = 0; i < FIRE_LANES; i++)
        lane[i] = powf(lane[i], -beta);
    memcpy(&v, lane, sizeof(v));
    return v;
}

FIRE_SIMD fire_vf_t divide(fire_dtype_t t, fire_vf_t a, fire_vf_t b)
{
    fire_vf_t root;

    if (t != FIRE_BF16_CPU) return a / b;
    root = fire_vf_rsqrt_cpu(b);
    return a * root * root;
}

/* The scales of channels c ... c + 15: k + alpha / n * sum of squares. */
FIRE_SIMD fire_vf_t scale_at(const fire_lrn_t *s, const float *squares, int64_t c)
{
    return s->k + s->alpha / (float)s->size * window_sum(s->size, squares + c);
}

/* squares: x^2 of all channels of the place at element `at`. */
FIRE_SIMD void fill_squares(fire_dtype_t t, int lanes, const fire_lrn_t *s,
                            const fire_blocked_t *b, const void *x, int64_t at,
                            float *squares)
{
    for (int64_t c = 0; c < b->blocks * lanes; c += lanes, at += b->plane * lanes) {
        fire_vf_t v = fire_vf_load(x, t, lanes, at);

        fire_vf_store(squares, FIRE_F32, lanes, s->size / 2 + c, v * v);
    }
}

/* ---- windows of 5 channels in bf16: neighbours are taken from registers ---- */

enum { USUAL_SIZE = 5 };

/* Sums over 5 channels: 2 before and 2 behind each channel of v. */
FIRE_SIMD fire_vf_t usual_sum(fire_vf_t before, fire_vf_t v, fire_vf_t after)
{
    return FIRE_VF_SLIDE(before, v, 14) + FIRE_VF_SLIDE(before, v, 15) + v +
           FIRE_VF_SLIDE(v, after, 1) + FIRE_VF_SLIDE(v, after, 2);
}

/* 16 channels of one place. direct: dy * scale^-beta, ratio: direct * x / scale */
typedef struct channels {
    fire_vf_t x, square, direct, ratio;
} channels_t;

FIRE_SIMD channels_t next_channels(const fire_blocked_t *b, const void *x,
                                   int64_t block, int64_t at)
{
    channels_t c = {{0}};

    if (block == b->blocks) return c;
    c.x      = fire_vf_load(x, FIRE_BF16_CPU, FIRE_LANES, at);
    c.square = c.x * c.x;
    return c;
}

FIRE_SIMD void forward_usual(const fire_lrn_t *s, const fire_blocked_t *b, int64_t at,
                             const void *x, void *y)
{
    int64_t    step   = b->plane * FIRE_LANES;
    channels_t before = {{0}}, c = next_channels(b, x, 0, at);

    for (int64_t i = 0; i < b->blocks; i++, at += step) {
        channels_t after = next_channels(b, x, i + 1, at + step);
        fire_vf_t  scale = s->k + s->alpha / (float)s->size *
                                     usual_sum(before.square, c.square, after.square);

        fire_vf_store(y, FIRE_BF16_CPU, FIRE_LANES, at,
                      c.x * power(FIRE_BF16_CPU, scale, s->beta));
        before = c;
        c      = after;
    }
}

/* A software pipeline over blocks: the scale of block i needs squares of i + 1, so
 * ratios of i are known one step later, and dx of i - 1 (`late`) needs the ratios of
 * i. */
FIRE_SIMD void backward_usual(const fire_lrn_t *s, const fire_blocked_t *b, int64_t at,
                              const void *x, const void *dy, void *dx)
{
    float      weight = (float)(2.0 * s->alpha * s->beta / (double)s->size);
    int64_t    step   = b->plane * FIRE_LANES;
    channels_t late = {{0}}, later = {{0}}, c = next_channels(b, x, 0, at);

    for (int64_t i = 0; i <= b->blocks; i++, at += step) {
        channels_t after = {{0}};

        if (i < b->blocks) {
            fire_vf_t scale;

            after = next_channels(b, x, i + 1, at + step);
            scale = s->k + s->alpha / (float)s->size *
                               usual_sum(late.square, c.square, after.square);
            c.direct = fire_vf_load(dy, FIRE_BF16_CPU, FIRE_LANES, at) *
                       power(FIRE_BF16_CPU, scale, s->beta);
            c.ratio = divide(FIRE_BF16_CPU, c.direct * c.x, scale);
        }
        if (i > 0)
            fire_vf_store(dx, FIRE_BF16_CPU, FIRE_LANES, at - step,
                          late.direct -
                              weight * late.x *
                                  usual_sum(later.ratio, late.ratio, c.ratio));
        later = late;
        late  = c;
        c     = after;
    }
}

/* ---- any window ---- */

/* Places p ... end - 1 of the image that begins at element `image`. */
FIRE_SIMD void forward_places(fire_dtype_t t, int lanes, const fire_lrn_t *s,
                              const fire_blocked_t *b, int64_t image, int64_t p,
                              int64_t end, const void *x, void *y)
{
    place_t squares;

    clear(s, b, squares);
    for (; p < end; p++) {
        int64_t at = image + p * lanes;

        fill_squares(t, lanes, s, b, x, at, squares);
        for (int64_t c = 0; c < b->blocks * lanes; c += lanes, at += b->plane * lanes)
            fire_vf_store(y, t, lanes, at,
                          fire_vf_load(x, t, lanes, at) *
                              power(t, scale_at(s, squares, c), s->beta));
    }
}

/* dx = dy scale^-beta - 2 alpha beta / n * x * sum over the window of dy y / scale */
FIRE_SIMD void backward_places(fire_dtype_t t, int lanes, const fire_lrn_t *s,
                               const fire_blocked_t *b, int64_t image, int64_t p,
                               int64_t end, const void *x, const void *dy, void *dx)
{
    float   weight = (float)(2.0 * s->alpha * s->beta / (double)s->size);
    place_t squares, ratio, direct;

    clear(s, b, squares);
    clear(s, b, ratio);
    for (; p < end; p++) {
        int64_t at = image + p * lanes;

        fill_squares(t, lanes, s, b, x, at, squares);
        for (int64_t c = 0; c < b->blocks * lanes; c += lanes, at += b->plane * lanes) {
            fire_vf_t scale = scale_at(s, squares, c);
            fire_vf_t d     = fire_vf_load(dy, t, lanes, at) * power(t, scale, s->beta);

            fire_vf_store(direct, FIRE_F32, lanes, c, d);
            fire_vf_store(ratio, FIRE_F32, lanes, s->size / 2 + c,
                          divide(t, d * fire_vf_load(x, t, lanes, at), scale));
        }
        at = image + p * lanes;
        for (int64_t c = 0; c < b->blocks * lanes; c += lanes, at += b->plane * lanes)
            fire_vf_store(dx, t, lanes, at,
                          fire_vf_load(direct, FIRE_F32, lanes, c) -
                              weight * fire_vf_load(x, t, lanes, at) *
                                  window_sum(s->size, ratio + c));
    }
}

/* A piece of work: places begin ... end - 1 of the image at element `image`. */
typedef struct piece {
    int64_t image, begin, end;
} piece_t;

static piece_t piece_of(const fire_blocked_t *b, int64_t k)
{
    int64_t pieces = (b->plane + PLACES - 1) / PLACES;
    piece_t p      = {.image = k / pieces * b->blocks * b->plane * b->block,
                      .begin = k % pieces * PLACES};

    p.end = p.begin + PLACES < b->plane ? p.begin + PLACES : b->plane;
    return p;
}

FIRE_SIMD void forward_step(fire_dtype_t t, int lanes, const fire_lrn_t *s,
                            const fire_blocked_t *b, int64_t k, const void *x, void *y)
{
    piece_t p = piece_of(b, k);

    if (t == FIRE_BF16_CPU && s->size == USUAL_SIZE)
        for (int64_t i = p.begin; i < p.end; i++)
            forward_usual(s, b, p.image + i * FIRE_LANES, x, y);
    else
        forward_places(t, lanes, s, b, p.image, p.begin, p.end, x, y);
}
FIRE_SIMD_KERNEL(forward_piece, forward_piece_any, forward_piece_bf16, forward_step,
                 b->dtype, b->block,
                 (const fire_lrn_t *s, const fire_blocked_t *b, int64_t k,
                  const void *x, void *y),
                 s, b, k, x, y)

FIRE_SIMD void backward_step(fire_dtype_t t, int lanes, const fire_lrn_t *s,
                             const fire_blocked_t *b, int64_t k, const void *x,
                             const void *dy, void *dx)
{
    piece_t p = piece_of(b, k);

    if (t == FIRE_BF16_CPU && s->size == USUAL_SIZE)
        for (int64_t i = p.begin; i < p.end; i++)
            backward_usual(s, b, p.image + i * FIRE_LANES, x, dy, dx);
    else
        backward_places(t, lanes, s, b, p.image, p.begin, p.end, x, dy, dx);
}
FIRE_SIMD_KERNEL(backward_piece, backward_piece_any, backward_piece_bf16, backward_step,
                 b->dtype, b->block,
                 (const fire_lrn_t *s, const fire_blocked_t *b, int64_t k,
                  const void *x, const void *dy, void *dx),
                 s, b, k, x, dy, dx)

static int64_t piece_count(const fire_blocked_t *b)
{
    return b->num * ((b->plane + PLACES - 1) / PLACES);
}

static fire_status_t lrn_simd_forward(fire_layer_t *l)
{
    const fire_lrn_t     *s = FIRE_STATE(l, fire_lrn_t);
    const fire_blocked_t *b;
    fire_format_t         f;
    void                 *x, *y;

    FIRE_TRY(fire_blob_blocked(l->bottom[0], FIRE_DATA, &f));
    b = fire_blocked_of(&f);
    FIRE_IN_AS(l->bottom[0], FIRE_DATA, &f, &x);
    FIRE_OUT_AS(l->top[0], FIRE_DATA, &f, &y);
    FIRE_PARALLEL(k, piece_count(b), true)
    forward_piece(s, b, k, x, y);
    return FIRE_OK;
}

static fire_status_t lrn_simd_backward(fire_layer_t *l)
{
    const fire_lrn_t     *s = FIRE_STATE(l, fire_lrn_t);
    const fire_blocked_t *b;
    fire_format_t         f;
    void                 *x, *dy, *dx;

    if (!l->propagate_down[0]) return FIRE_OK;
    FIRE_TRY(fire_blob_blocked(l->bottom[0], FIRE_DATA, &f));
    b = fire_blocked_of(&f);
    FIRE_IN_AS(l->bottom[0], FIRE_DATA, &f, &x);
    FIRE_IN_AS(l->top[0], FIRE_DIFF, &f, &dy);
    FIRE_OUT_AS(l->bottom[0], FIRE_DIFF, &f, &dx);
    FIRE_PARALLEL(k, piece_count(b), true)
    backward_piece(s, b, k, x, dy, dx);
    return FIRE_OK;
}

static const fire_fusion_ops_t lrn_simd_fusion = {
    .recompute      = lrn_simd_forward,
    .backward_reads = fire_reads_bottom,
};

const fire_kernel_t fire_lrn_simd = {
    .name     = "simd",
    .declines = lrn_simd_declines,
    .forward  = lrn_simd_forward,
    .backward = lrn_simd_backward,
    .fusion   = &lrn_simd_fusion,
};
