/* half.h - conversions between float32 and 16-bit floats, in integer arithmetic that
 * compilers vectorise. Both formats round to nearest, ties to even.
 *
 *            sign  exponent  fraction
 *   float32   1       8         23
 *   fp16      1       5         10      range +-65504
 *   bf16      1       8          7      range of float32       */
#ifndef FIRE_BASE_HALF_H
#define FIRE_BASE_HALF_H
#include <stdint.h>
#include <string.h>

static inline uint32_t fire_float_bits(float x)
{
    uint32_t u;

    memcpy(&u, &x, sizeof(u));
    return u;
}

static inline float fire_bits_float(uint32_t u)
{
    float x;

    memcpy(&x, &u, sizeof(x));
    return x;
}

/* A finite number that rounds beyond the range becomes `beyond`, without its sign. All
 * cases are computed and one is chosen, without branches. */
static inline uint16_t fire_round_to_fp16(float x, uint32_t beyond)
{
    uint32_t u = fire_float_bits(x), a = u & 0x7fffffff, sign = u >> 16 & 0x8000;
    /* A result below 2^-14 is subnormal: adding 0.5 shifts and rounds its digits into
     * the lowest bits of the sum's fraction. */
    uint32_t small  = fire_float_bits(fire_bits_float(a) + 0.5f) - 0x3f000000;
    uint32_t normal = (a - 0x38000000 + 0xfff + (a >> 13 & 1)) >> 13;
    uint32_t h      = a < 0x38800000 ? small : normal;

    h = a >= 0x477ff000 ? beyond : h;
    h = a >= 0x7f800000 ? 0x7c00 : h; /* infinity */
    h = a > 0x7f800000 ? 0x7e00 : h;  /* NaN */
    return (uint16_t)(sign | h);
}

/* As processors convert: too large becomes infinity. */
static inline uint16_t fire_to_fp16(float x)
{
    return fire_round_to_fp16(x, 0x7c00);
}

/* Too large becomes 65504, the largest: one outlier must not turn a sum of gradients into
 * infinity. */
static inline uint16_t fire_to_fp16_saturated(float x)
{
    return fire_round_to_fp16(x, 0x7bff);
}

static inline float fire_from_fp16(uint16_t h)
{
    uint32_t a = (uint32_t)(h & 0x7fff) << 13, sign = (uint32_t)(h & 0x8000) << 16;
    float    small = fire_bits_float(a + 0x38800000) - 0x1p-14f;
    uint32_t u     = a + 0x38000000;

    u = a >= 0x0f800000 ? a + 0x70000000 : u;
    u = a < 0x00800000 ? fire_float_bits(small) : u;
    return fire_bits_float(sign | u);
}

/* bfloat16: float32 without the lower 16 bits of its fraction. */
static inline uint16_t fire_to_bf16(float x)
{
    uint32_t u = fire_float_bits(x), h = (u + 0x7fff + (u >> 16 & 1)) >> 16;

    return (uint16_t)((u & 0x7fffffff) > 0x7f800000 ? (u >> 16 | 0x40) : h);
}

static inline float fire_from_bf16(uint16_t h)
{
    return fire_bits_float((uint32_t)h << 16);
}
#endif
