/* raw.c - element-wise loops over arrays of float32 or bfloat16, a vector at a time.
 * Each thread takes pieces of FIRE_GRAIN elements. */
#include "device/cpu/raw.h"

#include <string.h>

#include "device/cpu/parallel.h"
#include "device/cpu/simd.h"

/* Load and store a vector at element i of n; behind the end, zeros are loaded and
 * nothing is stored. */
FIRE_SIMD fire_vf_t get(fire_dtype_t t, const void *x, int64_t i, int64_t n)
{
    float  some[FIRE_LANES] = {0};
    size_t size             = t == FIRE_F32 ? sizeof(float) : sizeof(uint16_t);

    if (n - i >= FIRE_LANES) return fire_vf_load(x, t, FIRE_LANES, i);
    memcpy(some, (const char *)x + (size_t)i * size, (size_t)(n - i) * size);
    return fire_vf_load(some, t, FIRE_LANES, 0);
}

FIRE_SIMD void put(fire_dtype_t t, void *y, int64_t i, int64_t n, fire_vf_t v)
{
    float  some[FIRE_LANES];
    size_t size = t == FIRE_F32 ? sizeof(float) : sizeof(uint16_t);

    if (n - i >= FIRE_LANES) {
        fire_vf_store(y, t, FIRE_LANES, i, v);
        return;
    }
    fire_vf_store(some, t, FIRE_LANES, 0, v);
    memcpy((char *)y + (size_t)i * size, some, (size_t)(n - i) * size);
}

/* Are results so large that they leave the cache before they are read again? Then
 * storing past the cache saves reading the lines first. */
static bool is_far(fire_dtype_t t, int64_t n, const void *y)
{
    enum { FAR = 8 << 20 };

    return n * (int64_t)fire_dtype_size(t) >= FAR && (uintptr_t)y % 64 == 0;
}

FIRE_SIMD void put_far(fire_dtype_t t, bool far, void *y, int64_t i, int64_t n,
                       fire_vf_t v)
{
    if (far && n - i >= FIRE_LANES)
        fire_vf_stream(y, t, i, v);
    else
        put(t, y, i, n, v);
}

FIRE_SIMD fire_vf_t relu_of(fire_vf_t v, float slope)
{
    return fire_vf_select(v <= 0.0f, slope == 0.0f ? (fire_vf_t){0} : slope * v, v);
}

/* ---- one piece of ReLU and of its gradient ---- */

#define PIECE_PARAMS \
    (fire_dtype_t of, int64_t n, float slope, const void *a, const void *b, void *y)

/* y = relu(a). Not "a > 0 ? a : 0", which would turn NaN into 0. */
FIRE_SIMD void relu_loop(fire_dtype_t t, int lanes, fire_dtype_t of, int64_t n,
                         float slope, const void *a, const void *b, void *y)
{
    (void)lanes, (void)of, (void)b;
    for (int64_t i = 0; i < n; i += FIRE_LANES)
        put(t, y, i, n, relu_of(get(t, a, i, n), slope));
}
FIRE_SIMD_KERNEL(relu, relu_any, relu_bf16, relu_loop, of, FIRE_LANES, PIECE_PARAMS, of,
                 n, slope, a, b, y)

/* y = b where a > 0, else 0: the gradient of ReLU from its output a. */
FIRE_SIMD void relu_0_back_loop(fire_dtype_t t, int lanes, fire_dtype_t of, int64_t n,
                                float slope, const void *a, const void *b, void *y)
{
    (void)lanes, (void)of, (void)slope;
    for (int64_t i = 0; i < n; i += FIRE_LANES)
        put(t, y, i, n, fire_vf_where(get(t, a, i, n) > 0.0f, get(t, b, i, n)));
}
FIRE_SIMD_KERNEL(relu_0_back, relu_0_back_any, relu_0_back_bf16, relu_0_back_loop, of,
                 FIRE_LANES, PIECE_PARAMS, of, n, slope, a, b, y)

/* y = b where a > 0, else slope * b: the same of a leaky ReLU. */
FIRE_SIMD void relu_back_loop(fire_dtype_t t, int lanes, fire_dtype_t of, int64_t n,
                              float slope, const void *a, const void *b, void *y)
{
    (void)lanes, (void)of;
    for (int64_t i = 0; i < n; i += FIRE_LANES)
        put(t, y, i, n,
            fire_vf_select(get(t, a, i, n) > 0.0f, get(t, b, i, n),
                           slope * get(t, b, i, n)));
}
FIRE_SIMD_KERNEL(relu_back, relu_back_any, relu_back_bf16, relu_back_loop, of,
                 FIRE_LANES, PIECE_PARAMS, of, n, slope, a, b, y)

/* Arguments of fire_raw_sum(); far: store past the cache. */
typedef struct sum {
    fire_dtype_t       dtype;
    int                k;
    const float       *c;
    const void *const *x;
    float              slope;
    void              *y;
    bool               far;
} sum_t;

FIRE_SIMD void sum_loop(fire_dtype_t t, int lanes, const sum_t *s, int64_t at,
                        int64_t n)
{
    (void)lanes;
    for (int64_t i = at; i < n; i += FIRE_LANES) {
        fire_vf_t v = get(t, s->x[0], i, n);

        if (s->c != NULL) v *= s->c[0];
        for (int j = 1; j < s->k; j++)
            v += s->c != NULL ? s->c[j] * get(t, s->x[j], i, n) : get(t, s->x[j], i, n);
        put_far(t, s->far, s->y, i, n, s->slope != 1.0f ? relu_of(v, s->slope) : v);
    }
    if (s->far) fire_vf_fence();
}
FIRE_SIMD_KERNEL(sum, sum_any, sum_bf16, sum_loop, s->dtype, FIRE_LANES,
                 (const sum_t *s, int64_t at, int64_t n), s, at, n)

/* Arguments of fire_raw_spread(). */
typedef struct spread {
    fire_dtype_t dtype;
    float        slope;
    const void  *y, *dy;
    int          k;
    const float *c;
    void *const *dx;
    bool         far;
} spread_t;

FIRE_SIMD void spread_loop(fire_dtype_t t, int lanes, const spread_t *s, int64_t at,
                           int64_t n)
{
    (void)lanes;
    for (int64_t i = at; i < n; i += FIRE_LANES) {
        fire_vf_t v = get(t, s->dy, i, n);

        if (s->y != NULL)
            v = fire_vf_select(get(t, s->y, i, n) > 0.0f, v,
                               s->slope == 0.0f ? (fire_vf_t){0} : s->slope * v);
        for (int j = 0; j < s->k; j++)
            put_far(t, s->far, s->dx[j], i, n, s->c != NULL ? s->c[j] * v : v);
    }
    if (s->far) fire_vf_fence();
}
FIRE_SIMD_KERNEL(spread, spread_any, spread_bf16, spread_loop, s->dtype, FIRE_LANES,
                 (const spread_t *s, int64_t at, int64_t n), s, at, n)

typedef void piece_t(fire_dtype_t t, int64_t n, float slope, const void *a,
                     const void *b, void *y);

/* Call `piece` for all pieces of n elements. */
static void share(piece_t *piece, fire_dtype_t t, int64_t n, float slope, const void *a,
                  const void *b, void *y)
{
    size_t size = fire_dtype_size(t);

    FIRE_PARALLEL_PIECES(i, n, FIRE_GRAIN)
    {
        size_t at = (size_t)i * size;

        piece(t, fire_piece(n, i, FIRE_GRAIN), slope, (const char *)a + at,
              b != NULL ? (const char *)b + at : NULL, (char *)y + at);
    }
}

void fire_raw_relu(fire_dtype_t t, int64_t n, float slope, const void *x, void *y)
{
    share(relu, t, n, slope, x, NULL, y);
}

void fire_raw_relu_back(fire_dtype_t t, int64_t n, float slope, const void *y,
                        const void *dy, void *dx)
{
    share(slope == 0.0f ? relu_0_back : relu_back, t, n, slope, y, dy, dx);
}

void fire_raw_sum(fire_dtype_t t, int64_t n, int k, const float *c,
                  const void *const *x, float slope, void *y)
{
    sum_t s = {t, k, c, x, slope, y, is_far(t, n, y)};

    FIRE_PARALLEL_PIECES(i, n, FIRE_GRAIN)
    sum(&s, i, i + fire_piece(n, i, FIRE_GRAIN));
}

void fire_raw_spread(fire_dtype_t t, int64_t n, float slope, const void *y,
                     const void *dy, int k, const float *c, void *const *dx)
{
    spread_t s = {t, slope, y, dy, k, c, dx, true};

    for (int j = 0; j < k; j++)
        s.far = s.far && is_far(t, n, dx[j]);
    FIRE_PARALLEL_PIECES(i, n, FIRE_GRAIN)
    spread(&s, i, i + fire_piece(n, i, FIRE_GRAIN));
}

void fire_raw_rows(fire_dtype_t t, int64_t rows, int64_t n, const void *x,
                   int64_t x_step, void *y, int64_t y_step)
{
    size_t size = fire_dtype_size(t);

    FIRE_PARALLEL(i, rows, rows * n > FIRE_GRAIN)
    memcpy((char *)y + (size_t)(i * y_step) * size,
           (const char *)x + (size_t)(i * x_step) * size, (size_t)n * size);
}
