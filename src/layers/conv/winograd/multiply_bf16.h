/* multiply_bf16.h - products of bfloat16 between Winograd's transforms, by AVX512-BF16:
 * its dot instruction multiplies pairs of neighbouring numbers and adds both products
 * to a float32. Each sum is one chain in the order of the channels, so bits do not
 * depend on how rows are cut over threads. */
#ifndef FIRE_LAYERS_CONV_WINOGRAD_MULTIPLY_BF16_H
#define FIRE_LAYERS_CONV_WINOGRAD_MULTIPLY_BF16_H
#include "device/cpu/simd.h"

enum { FIRE_PAIR = 2 * FIRE_LANES }; /* elements of a vector of 16 pairs */

/* Elements from point to point of a panel (point, block of 16 channels, row, 16):
 * includes one vector of padding, as fire_wino_point_step() does. */
static inline int64_t fire_wino_pair_step(int64_t blocks, int64_t rows)
{
    return (blocks * rows + 2) * FIRE_LANES;
}

/* Interleave two vectors of numbers, rounded to bfloat16, to one of pairs. */
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

/* sum[i] + pairs[i][0] * pair[0] + pairs[i][1] * pair[1] */
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
