/* simd.h - vectors of 16 floats in GCC's vector extension: the compiler makes of them
 * one AVX-512 register, two of AVX2 or four of SSE. For functions marked FIRE_VECTOR
 * (base/vector.h), which are compiled once for each of these. Arrays are float32 or
 * bfloat16; arithmetic is float32.
 *
 * `lanes` is 16, or 8 for arrays with channels in blocks of 8: then the upper half of a
 * vector is zero and is not stored. */
#ifndef FIRE_DEVICE_CPU_SIMD_H
#define FIRE_DEVICE_CPU_SIMD_H
#include <string.h>
#if defined(__x86_64__)
#    include <xmmintrin.h>
#endif

#include "base/vector.h"
#include "device/device.h"

/* GCC warns that passing vectors has no fixed ABI; ours only reach inlined
 * functions. */
#pragma GCC diagnostic ignored "-Wpsabi"

enum { FIRE_LANES = 16 };

typedef float    fire_vf_t __attribute__((vector_size(64)));
typedef int32_t  fire_vi_t __attribute__((vector_size(64))); /* masks, indices */
typedef uint32_t fire_vu_t __attribute__((vector_size(64)));
typedef uint16_t fire_vh_t __attribute__((vector_size(32))); /* bfloat16 bits */

#define FIRE_SIMD __attribute__((always_inline)) static inline

/* For functions that only machines with AVX-512 call. */
#if defined(__x86_64__) && defined(__GNUC__)
#    define FIRE_AVX512 __attribute__((target("avx512f")))
#else
#    define FIRE_AVX512
#endif

/* For functions that only machines with AVX512-BF16 call. They may use FIRE_BF16_CPU in
 * place of FIRE_BF16: then the CPU's own instructions convert, which flush subnormal
 * numbers to zero. Needs optimised code, in which all calls below are inlined into
 * these functions, and GCC: clang does not pass vectors between functions of different
 * targets. */
#if defined(__x86_64__) && defined(__GNUC__) && defined(__OPTIMIZE__) && \
    !defined(__clang__)
#    define FIRE_CPU_ROUNDS 1
#    define FIRE_AVX512_BF16 \
        __attribute__((target("avx512f,avx512bw,avx512vl,avx512bf16")))
#else
#    define FIRE_CPU_ROUNDS 0
#    define FIRE_AVX512_BF16
#endif
#define FIRE_BF16_CPU ((fire_dtype_t)64)

static inline bool fire_cpu_rounds(void)
{
#if FIRE_CPU_ROUNDS
    return __builtin_cpu_supports("avx512bf16");
#else
    return false;
#endif
}

/* All lanes x. Filled in memory, which the compiler turns into one broadcast; a vector
 * initialiser it would build lane by lane. */
FIRE_SIMD fire_vf_t fire_vf_all(float x)
{
    float     lane[FIRE_LANES];
    fire_vf_t v;

    for (int i = 0; i < FIRE_LANES; i++)
        lane[i] = x;
    memcpy(&v, lane, sizeof(v));
    return v;
}

FIRE_SIMD fire_vi_t fire_vi_all(int32_t x)
{
    int32_t   lane[FIRE_LANES];
    fire_vi_t v;

    for (int i = 0; i < FIRE_LANES; i++)
        lane[i] = x;
    memcpy(&v, lane, sizeof(v));
    return v;
}

FIRE_SIMD fire_vf_t fire_vf_bf16(fire_vh_t h)
{
    return (fire_vf_t)(__builtin_convertvector(h, fire_vu_t) << 16);
}

/* Float32 to bfloat16, rounded to nearest even; NaN stays NaN. */
FIRE_SIMD fire_vh_t fire_vh_bf16(fire_vf_t v)
{
    fire_vu_t u   = (fire_vu_t)v;
    fire_vu_t nan = (fire_vu_t)(v != v);
    fire_vu_t up  = (u + 0x7fffu + ((u >> 16) & 1u)) >> 16;

    return __builtin_convertvector((nan & ((u >> 16) | 0x40u)) | (~nan & up),
                                   fire_vh_t);
}

/* 16 bfloat16 numbers, converted by the CPU's own instructions. */
FIRE_SIMD fire_vf_t fire_vf_read_cpu(const void *x)
{
    fire_vu_t u = {0};

#if FIRE_CPU_ROUNDS
    __asm__("vpmovzxwd %1, %0" : "=v"(u) : "m"(*(const fire_vh_t *)x));
#else
    (void)x;
#endif
    return (fire_vf_t)(u << 16);
}

FIRE_SIMD fire_vh_t fire_vh_cpu(fire_vf_t v)
{
    fire_vh_t h = {0};

#if FIRE_CPU_ROUNDS
    __asm__("vcvtneps2bf16 %1, %0" : "=v"(h) : "v"(v));
#else
    (void)v;
#endif
    return h;
}

FIRE_SIMD void fire_vf_write_cpu(void *y, fire_vf_t v)
{
    fire_vh_t h = fire_vh_cpu(v);

    memcpy(y, &h, sizeof(h));
}

/* 1 / sqrt(v) to 14 bits: enough for results that are rounded to bfloat16's 8. */
FIRE_SIMD fire_vf_t fire_vf_rsqrt_cpu(fire_vf_t v)
{
    fire_vf_t r = v;

#if FIRE_CPU_ROUNDS
    __asm__("vrsqrt14ps %1, %0" : "=v"(r) : "v"(v));
#endif
    return r;
}

/* `lanes` elements from element i of an array. t must be a constant where it is
 * called. */
FIRE_SIMD fire_vf_t fire_vf_load(const void *base, fire_dtype_t t, int lanes, int64_t i)
{
    fire_vf_t v = {0};
    fire_vh_t h = {0};

    if (t == FIRE_BF16_CPU) return fire_vf_read_cpu((const uint16_t *)base + i);
    if (t == FIRE_BF16) {
        memcpy(&h, (const uint16_t *)base + i, lanes == 16 ? sizeof(h) : sizeof(h) / 2);
        return fire_vf_bf16(h);
    }
    memcpy(&v, (const float *)base + i, lanes == 16 ? sizeof(v) : sizeof(v) / 2);
    return v;
}

FIRE_SIMD void fire_vf_store(void *base, fire_dtype_t t, int lanes, int64_t i,
                             fire_vf_t v)
{
    if (t == FIRE_BF16_CPU) {
        fire_vf_write_cpu((uint16_t *)base + i, v);
    } else if (t == FIRE_BF16) {
        fire_vh_t h = fire_vh_bf16(v);

        memcpy((uint16_t *)base + i, &h, lanes == 16 ? sizeof(h) : sizeof(h) / 2);
    } else {
        memcpy((float *)base + i, &v, lanes == 16 ? sizeof(v) : sizeof(v) / 2);
    }
}

/* Store past the cache, for arrays larger than it: an ordinary store first reads the
 * line that it overwrites. For 16 lanes and arrays aligned to 64 bytes, i a multiple of
 * 16; call fire_vf_fence() after the last store. */
FIRE_SIMD void fire_vf_stream(void *base, fire_dtype_t t, int64_t i, fire_vf_t v)
{
    size_t size = t == FIRE_F32 ? sizeof(float) : sizeof(uint16_t);
    char  *y    = (char *)base + (size_t)i * size;
    float  lane[FIRE_LANES];

    fire_vf_store(lane, t, FIRE_LANES, 0, v);
#if defined(__x86_64__)
    for (size_t k = 0; k < FIRE_LANES * size; k += 16)
        _mm_stream_ps((float *)(y + k), _mm_loadu_ps((float *)((char *)lane + k)));
#else
    memcpy(y, lane, FIRE_LANES * size);
#endif
}

FIRE_SIMD void fire_vf_fence(void)
{
#if defined(__x86_64__)
    _mm_sfence();
#endif
}

/* mask ? yes : no in each lane; mask: all ones or all zeros, as comparisons give it. */
FIRE_SIMD fire_vf_t fire_vf_select(fire_vi_t mask, fire_vf_t yes, fire_vf_t no)
{
    return (fire_vf_t)((mask & (fire_vi_t)yes) | (~mask & (fire_vi_t)no));
}

/* mask ? v : 0 */
FIRE_SIMD fire_vf_t fire_vf_where(fire_vi_t mask, fire_vf_t v)
{
    return (fire_vf_t)(mask & (fire_vi_t)v);
}

/* Lanes n ... n + 15 of the 32 lanes of low and high; n a constant. One instruction
 * with AVX-512, many without. */
#define FIRE_LANES_FROM(n)                                                            \
    n, n + 1, n + 2, n + 3, n + 4, n + 5, n + 6, n + 7, n + 8, n + 9, n + 10, n + 11, \
        n + 12, n + 13, n + 14, n + 15
#if defined(__clang__)
#    define FIRE_VF_SLIDE(low, high, n) \
        __builtin_shufflevector(low, high, FIRE_LANES_FROM(n))
#else
#    define FIRE_VF_SLIDE(low, high, n) \
        __builtin_shuffle(low, high, (fire_vi_t){FIRE_LANES_FROM(n)})
#endif

/* Call `function` with number format and lanes as constants, so that the compiler
 * specialises it for each of the four pairs. */
#define FIRE_SIMD_DISPATCH(function, dtype, lanes, ...) \
    do {                                                \
        if ((dtype) == FIRE_BF16 && (lanes) == 16)      \
            function(FIRE_BF16, 16, __VA_ARGS__);       \
        else if ((dtype) == FIRE_BF16)                  \
            function(FIRE_BF16, 8, __VA_ARGS__);        \
        else if ((lanes) == 16)                         \
            function(FIRE_F32, 16, __VA_ARGS__);        \
        else                                            \
            function(FIRE_F32, 8, __VA_ARGS__);         \
    } while (0)

/* Define the function `name` of `params`, whose names are the rest of the arguments. It
 * runs `function`, which takes the number format and the vector's width before them, in
 * one of two builds, whose names are given too, so that a search finds them: `bf16`,
 * for processors that round to bfloat16 themselves, or `any`, for all others. */
#define FIRE_SIMD_KERNEL(name, any, bf16, function, dtype, lanes, params, ...)  \
    FIRE_AVX512_BF16 static void bf16 params                                    \
    {                                                                           \
        function(FIRE_CPU_ROUNDS ? FIRE_BF16_CPU : FIRE_BF16, 16, __VA_ARGS__); \
    }                                                                           \
    FIRE_VECTOR static void any params                                          \
    {                                                                           \
        FIRE_SIMD_DISPATCH(function, dtype, lanes, __VA_ARGS__);                \
    }                                                                           \
    static void name params                                                     \
    {                                                                           \
        if ((dtype) == FIRE_BF16 && (lanes) == 16 && fire_cpu_rounds())         \
            bf16(__VA_ARGS__);                                                  \
        else                                                                    \
            any(__VA_ARGS__);                                                   \
    }
#endif
