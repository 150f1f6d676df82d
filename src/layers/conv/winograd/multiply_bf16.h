/* multiply_bf16.h - products of bfloat16 between Winograd's transforms: factors come in
 * pairs, whose products are added to one float32. Each sum is one chain in order, so that
 * bits do not depend on how rows are cut. */
#ifndef FIRE_LAYERS_CONV_WINOGRAD_MULTIPLY_BF16_H
#define FIRE_LAYERS_CONV_WINOGRAD_MULTIPLY_BF16_H
#include "device/cpu/simd.h"

enum { FIRE_PAIR = 2 * FIRE_LANES }; /* 16 pairs fill a vector */

/* From point to point of a panel (point, block of 16 channels, row, 16): one vector more
 * than it needs, else points would compete for the same lines of the cache. */
static inline int64_t fire_wino_pair_step(int64_t blocks, int64_t rows)
{
    return (blocks * rows + 2) * FIRE_LANES;
}

/* Two vectors of numbers as one of pairs. */
FIRE_SIMD fire_vu_t fire_wino_make_pairs(fire_vf_t even, fire_vf_t odd)
{
    typedef uint16_t words_t __attribute__((vector_size(64)));
    words_t          apart = {0};

#if FIRE_CPU_ROUNDS
    __asm__("vcvtne2ps2bf16 %2, %1, %0" : "=v"(apart) : "v"(odd), "v"(even));
    apart = __builtin_shuffle(
        apart, (words_t){0, 16, 1, 17, 2,  18, 3,  19, 4,  20, 5,  21, 6,  22, 7,  23,
                         8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31});
#else
    (void)even;
    (void)odd;
#endif
    return (fire_vu_t)apart;
}

FIRE_SIMD fire_vu_t fire_wino_load_pairs(const uint16_t *pairs)
{
    fire_vu_t v;

    memcpy(&v, pairs, sizeof(v));
    return v;
}

/* 16 sums + 16 pairs times one pair */
FIRE_SIMD fire_vf_t fire_wino_dot(fire_vf_t sum, fire_vu_t pairs, const uint16_t *pair)
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
#endif
