/* cuda_fp16.h - float16 as CUDA has it: kept in 16 bits, computed in float32. */
#ifndef EMULATOR_CUDA_FP16_H
#define EMULATOR_CUDA_FP16_H
#include "base/half.h"
#include "kernel.h"

struct __half {
    uint16_t bits;

    __half() = default;
    __half(float f) : bits(fire_to_fp16(f))
    {
    }
    operator float() const
    {
        return fire_from_fp16(bits);
    }
};
#endif
