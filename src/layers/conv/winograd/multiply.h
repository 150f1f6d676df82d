/* multiply.h - the matrix products between Winograd's transforms, of float32 or
 * float64: small matrices with 16 columns (float64: 8 of 16). Each sum is one chain of
 * multiply-adds in the order of the channels, so bits do not depend on how rows are cut
 * over threads. */
#ifndef FIRE_LAYERS_CONV_WINOGRAD_MULTIPLY_H
#define FIRE_LAYERS_CONV_WINOGRAD_MULTIPLY_H
#include "layers/conv/winograd/transform8.h"

/* n rows of c = a b. a: (depth / 16 blocks, a_block elements apart; rows, 16), b:
 * (depth, 16), c: (rows, 16). n: a constant, so that the sums are registers */
FIRE_SIMD void fire_wino_multiply_rows(int n, int64_t depth, const fire_real_t *a,
                                       int64_t a_block, const fire_real_t *b,
                                       fire_real_t *c)
{
    fire_reals_t sum[FIRE_WINO_ROWS] = {{0}};

    for (int64_t k0 = 0; k0 < depth; k0 += FIRE_LANES, a += a_block) {
        int many = depth - k0 < FIRE_LANES ? (int)(depth - k0) : FIRE_LANES;

        for (int k = 0; k < many; k++, b += FIRE_LANES) {
            fire_reals_t v = fire_reals_load(b);

#pragma GCC unroll 12
            for (int i = 0; i < n; i++)
                sum[i] += v * a[i * FIRE_LANES + k];
        }
    }
    for (int i = 0; i < n; i++)
        fire_reals_store(c + i * FIRE_LANES, sum[i]);
}

#define FIRE_WINO_CASE(n)                                \
case n:                                                  \
    fire_wino_multiply_rows(n, depth, a, a_block, b, c); \
    break

/* c = a b for any number of rows, FIRE_WINO_ROWS at a time. */
FIRE_AVX512 static void fire_wino_multiply(int64_t rows, int64_t depth,
                                           const fire_real_t *a, int64_t a_block,
                                           const fire_real_t *b, fire_real_t *c)
{
    for (; rows > 0; rows -= FIRE_WINO_ROWS) {
        switch (rows) {
            FIRE_WINO_CASE(1);
            FIRE_WINO_CASE(2);
            FIRE_WINO_CASE(3);
            FIRE_WINO_CASE(4);
            FIRE_WINO_CASE(5);
            FIRE_WINO_CASE(6);
            FIRE_WINO_CASE(7);
            FIRE_WINO_CASE(8);
            FIRE_WINO_CASE(9);
            FIRE_WINO_CASE(10);
            FIRE_WINO_CASE(11);
        default:
            fire_wino_multiply_rows(FIRE_WINO_ROWS, depth, a, a_block, b, c);
        }
        a += FIRE_WINO_ROWS * FIRE_LANES;
        c += FIRE_WINO_ROWS * FIRE_LANES;
    }
}

/* n rows of c += a' b, for a and b of (depth, 16): gradients of weights. */
FIRE_SIMD void fire_wino_add_rows(int n, int64_t depth, const fire_real_t *a,
                                  const fire_real_t *b, fire_real_t *c)
{
    fire_reals_t sum[FIRE_LANES];

    for (int i = 0; i < n; i++)
        sum[i] = fire_reals_load(c + i * FIRE_LANES);
    for (int64_t k = 0; k < depth; k++, a += FIRE_LANES, b += FIRE_LANES) {
        fire_reals_t v = fire_reals_load(b);

#pragma GCC unroll 16
        for (int i = 0; i < n; i++)
            sum[i] += v * a[i];
    }
    for (int i = 0; i < n; i++)
        fire_reals_store(c + i * FIRE_LANES, sum[i]);
}

/* The same for any number of rows up to 16: rounds up, as the padding of channels is
 * zero. */
FIRE_AVX512 static inline void fire_wino_add_products(int64_t rows, int64_t depth,
                                                      const fire_real_t *a,
                                                      const fire_real_t *b,
                                                      fire_real_t       *c)
{
    if (rows > 8)
        fire_wino_add_rows(16, depth, a, b, c);
    else if (rows > 4)
        fire_wino_add_rows(8, depth, a, b, c);
    else
        fire_wino_add_rows(4, depth, a, b, c);
}
#endif
