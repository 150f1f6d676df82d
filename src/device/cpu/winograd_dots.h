/* winograd_dots.h - products of bfloat16 between Winograd's transforms: factors come in
 * pairs, whose products are added to one float32. Each sum is one chain in order, so that
 * bits do not depend on how rows are cut. */
#ifndef FIRE_DEVICE_CPU_WINOGRAD_DOTS_H
#define FIRE_DEVICE_CPU_WINOGRAD_DOTS_H
#include "device/cpu/simd.h"

enum {
    FIRE_DOT_ROWS = 12,             /* sums, as many as registers hold beside factors */
    FIRE_PAIR     = 2 * FIRE_LANES, /* 16 pairs fill a vector */
};

FIRE_SIMD fire_vu_t fire_dot_load(const uint16_t *pairs)
{
    fire_vu_t v;

    memcpy(&v, pairs, sizeof(v));
    return v;
}

/* 16 sums + 16 pairs times one pair */
FIRE_SIMD fire_vf_t fire_dot(fire_vf_t sum, fire_vu_t pairs, const uint16_t *pair)
{
#if FIRE_CPU_ROUNDS
    __asm__("vdpbf16ps %2%{1to16%}, %1, %0"
            : "+v"(sum)
            : "v"(pairs), "m"(*(const uint16_t(*)[2])pair));
#else
    (void)pairs;
    (void)pair;
#endif
    return sum;
}

/* n rows of c = a b: a has blocks of 16 columns, a_block elements apart. */
FIRE_SIMD void fire_dot_rows(int n, int64_t blocks, const uint16_t *a, int64_t a_block,
                             const uint16_t *b, float *c)
{
    fire_vf_t sum[FIRE_DOT_ROWS] = {{0}};

    for (int64_t k = 0; k < blocks; k++, a += a_block)
#pragma GCC unroll 8
        for (int j = 0; j < FIRE_LANES; j += 2, b += FIRE_PAIR) {
            fire_vu_t v = fire_dot_load(b);

#pragma GCC unroll 12
            for (int i = 0; i < n; i++)
                sum[i] = fire_dot(sum[i], v, a + i * FIRE_LANES + j);
        }
    for (int i = 0; i < n; i++)
        memcpy(c + i * FIRE_LANES, &sum[i], sizeof(sum[i]));
}

#define FIRE_DOT_CASE(n)                        \
case n:                                         \
    fire_dot_rows(n, blocks, a, a_block, b, c); \
    break

FIRE_AVX512_BF16 static void fire_dot_panel(int64_t rows, int64_t blocks,
                                            const uint16_t *a, int64_t a_block,
                                            const uint16_t *b, float *c)
{
    for (; rows > 0; rows -= FIRE_DOT_ROWS) {
        switch (rows) {
            FIRE_DOT_CASE(1);
            FIRE_DOT_CASE(2);
            FIRE_DOT_CASE(3);
            FIRE_DOT_CASE(4);
            FIRE_DOT_CASE(5);
            FIRE_DOT_CASE(6);
            FIRE_DOT_CASE(7);
            FIRE_DOT_CASE(8);
            FIRE_DOT_CASE(9);
            FIRE_DOT_CASE(10);
            FIRE_DOT_CASE(11);
        default:
            fire_dot_rows(FIRE_DOT_ROWS, blocks, a, a_block, b, c);
        }
        a += FIRE_DOT_ROWS * FIRE_LANES;
        c += FIRE_DOT_ROWS * FIRE_LANES;
    }
}

/* 16 rows of c += a' b, for `depth` pairs of rows of a and b, 16 columns each */
FIRE_AVX512_BF16 static void fire_dot_block(int64_t depth, const uint16_t *a,
                                            const uint16_t *b, float *c)
{
    fire_vf_t sum[FIRE_LANES];

#pragma GCC unroll 16
    for (int i = 0; i < FIRE_LANES; i++)
        memcpy(&sum[i], c + i * FIRE_LANES, sizeof(sum[i]));
    for (int64_t k = 0; k < depth; k++, a += FIRE_PAIR, b += FIRE_PAIR) {
        fire_vu_t v = fire_dot_load(b);

#pragma GCC unroll 16
        for (int i = 0; i < FIRE_LANES; i++)
            sum[i] = fire_dot(sum[i], v, a + 2 * i);
    }
#pragma GCC unroll 16
    for (int i = 0; i < FIRE_LANES; i++)
        memcpy(c + i * FIRE_LANES, &sum[i], sizeof(sum[i]));
}
#endif
