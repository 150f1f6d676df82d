/* cuda_bf16.h - bfloat16 as CUDA has it: kept in 16 bits, computed in float32. */
#ifndef EMULATOR_CUDA_BF16_H
#define EMULATOR_CUDA_BF16_H
#include "kernel.h"

struct __nv_bfloat16 {
    uint16_t bits;

    __nv_bfloat16() = default;
    __nv_bfloat16(float f)
    {
        unsigned u = __float_as_uint(f);

        bits = f != f ? 0x7fff : (uint16_t)((u + 0x7fff + ((u >> 16) & 1)) >> 16);
    }
    operator float() const
    {
        return __uint_as_float((unsigned)bits << 16);
    }
};

static inline __nv_bfloat16 __float2bfloat16(float x)
{
    return x;
}
static inline float __bfloat162float(__nv_bfloat16 x)
{
    return x;
}
#endif
