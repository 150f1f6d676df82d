#include "device/cpu/raw.h"

#include <string.h>

#include "base/vector.h"
#include "device/cpu/convert.h"
#include "device/cpu/parallel.h"

#define INLINE __attribute__((always_inline)) static inline

INLINE float get(fire_dtype_t t, const void *x, int64_t i)
{
    return t == FIRE_BF16 ? fire_from_bf16(((const uint16_t *)x)[i])
                          : ((const float *)x)[i];
}

INLINE void put(fire_dtype_t t, void *y, int64_t i, float v)
{
    if (t == FIRE_BF16)
        ((uint16_t *)y)[i] = fire_to_bf16(v);
    else
        ((float *)y)[i] = v;
}

/* One piece: the function of one element, in a loop for each number format. Arrays are
 * the same or apart, so no element waits for another. */
#define LOOP(name, value)                                                            \
    INLINE void name##_loop(fire_dtype_t t, int64_t n, float ca, const void *a,      \
                            float cb, const void *b, void *y)                        \
    {                                                                                \
        (void)ca, (void)cb, (void)b;                                                 \
        _Pragma("GCC ivdep") for (int64_t i = 0; i < n; i++) put(t, y, i, value);    \
    }                                                                                \
    FIRE_VECTOR static void name(fire_dtype_t t, int64_t n, float ca, const void *a, \
                                 float cb, const void *b, void *y)                   \
    {                                                                                \
        if (t == FIRE_BF16)                                                          \
            name##_loop(FIRE_BF16, n, ca, a, cb, b, y);                              \
        else                                                                         \
            name##_loop(FIRE_F32, n, ca, a, cb, b, y);                               \
    }

#define A get(t, a, i)
#define B get(t, b, i)

/* Not "A > 0 ? A : 0": NaN must go through. */
LOOP(relu_0, A <= 0.0f ? 0.0f : A)
LOOP(relu, A <= 0.0f ? ca * A : A)
LOOP(relu_0_back, A > 0.0f ? B : 0.0f)
LOOP(relu_back, A > 0.0f ? B : ca * B)
LOOP(add, A + B)
LOOP(sum, ca *A + cb * B)
LOOP(scale, ca *A)

/* The same as relu_0_back, for which bf16 needs no arithmetic: gradients stay where the
 * bits of a say more than zero and not NaN. A mask, not a choice: half of all branches
 * would go the wrong way. */
FIRE_VECTOR static void keep_bf16(fire_dtype_t t, int64_t n, float ca, const void *a,
                                  float cb, const void *b, void *y)
{
    const uint16_t *value = a, *gradient = b;
    uint16_t       *out = y;

    (void)t, (void)ca, (void)cb;
#pragma GCC ivdep
    for (int64_t i = 0; i < n; i++) {
        uint16_t above = (uint16_t)(value[i] - 1) < 0x7f80 ? 0xffff : 0; /* infinity */

        out[i] = gradient[i] & above;
    }
}

typedef void piece_t(fire_dtype_t t, int64_t n, float ca, const void *a, float cb,
                     const void *b, void *y);

static void share(piece_t *piece, fire_dtype_t t, int64_t n, float ca, const void *a,
                  float cb, const void *b, void *y)
{
    size_t size = fire_dtype_size(t);

    FIRE_PARALLEL_PIECES(i, n, FIRE_GRAIN)
    {
        size_t at = (size_t)i * size;

        piece(t, fire_piece(n, i, FIRE_GRAIN), ca, (const char *)a + at, cb,
              b != NULL ? (const char *)b + at : NULL, (char *)y + at);
    }
}

void fire_raw_relu(fire_dtype_t t, int64_t n, float slope, const void *x, void *y)
{
    share(slope == 0.0f ? relu_0 : relu, t, n, slope, x, 0, NULL, y);
}

void fire_raw_relu_back(fire_dtype_t t, int64_t n, float slope, const void *y,
                        const void *dy, void *dx)
{
    piece_t *piece = slope != 0.0f    ? relu_back
                     : t == FIRE_BF16 ? keep_bf16
                                      : relu_0_back;

    share(piece, t, n, slope, y, 0, dy, dx);
}

/* One piece at a time through all arrays: sums stay in the cache. */
void fire_raw_sum(fire_dtype_t t, int64_t n, int k, const float *c,
                  const void *const *x, void *y)
{
    size_t size = fire_dtype_size(t);

    FIRE_PARALLEL_PIECES(i, n, FIRE_GRAIN)
    {
        int64_t     len = fire_piece(n, i, FIRE_GRAIN);
        size_t      at  = (size_t)i * size;
        char       *to  = (char *)y + at;
        const char *a   = (const char *)x[0] + at;

        if (k == 1) scale(t, len, c != NULL ? c[0] : 1, a, 0, NULL, to);
        for (int j = 1; j < k; j++, a = to) {
            const char *b = (const char *)x[j] + at;

            if (c == NULL)
                add(t, len, 1, a, 1, b, to);
            else
                sum(t, len, j == 1 ? c[0] : 1, a, c[j], b, to);
        }
    }
}

void fire_raw_scale(fire_dtype_t t, int64_t n, float c, const void *x, void *y)
{
    if (x != y || c != 1.0f) share(scale, t, n, c, x, 0, NULL, y);
}

void fire_raw_rows(fire_dtype_t t, int64_t rows, int64_t n, const void *x,
                   int64_t x_step, void *y, int64_t y_step)
{
    size_t size = fire_dtype_size(t);

    FIRE_PARALLEL(i, rows, rows * n > FIRE_GRAIN)
    memcpy((char *)y + (size_t)(i * y_step) * size,
           (const char *)x + (size_t)(i * x_step) * size, (size_t)n * size);
}
