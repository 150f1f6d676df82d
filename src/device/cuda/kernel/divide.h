/* divide.h - division by a number that is constant for a whole launch, as a
 * multiplication and a shift: an integer division takes some thirty instructions. */
#ifndef FIRE_DEVICE_CUDA_KERNEL_DIVIDE_H
#define FIRE_DEVICE_CUDA_KERNEL_DIVIDE_H
#include "device/cuda/launch.h"

/* Made on the host by fire_divisor(), passed to kernels by value. */
typedef struct fire_divisor {
    unsigned by, factor, shift;
} fire_divisor_t;

/* n / by = (n * factor / 2^32 + n) / 2^shift for all n < 2^31. A divisor of 0, the size
 * of an empty blob, becomes 1 and is never used. */
static inline fire_divisor_t fire_divisor(int64_t by)
{
    fire_divisor_t d = {by > 0 ? (unsigned)by : 1, 0, 0};

    while (((uint64_t)1 << d.shift) < d.by)
        d.shift++;
    d.factor =
        (unsigned)((((uint64_t)1 << 32) * (((uint64_t)1 << d.shift) - d.by)) / d.by +
                   1);
    return d;
}

/* n / d for n < 2^31. */
__device__ static inline unsigned fire_divide_short(unsigned n, const fire_divisor_t &d)
{
    return ((unsigned)(((uint64_t)n * d.factor) >> 32) + n) >> d.shift;
}

__device__ static inline uint64_t fire_divide(uint64_t n, const fire_divisor_t &d)
{
    return n >> 31 ? n / d.by : fire_divide_short((unsigned)n, d);
}

/* Replaces *n by the quotient and returns the remainder: peels the last axis off an
 * index. */
__device__ static inline unsigned fire_divmod(uint64_t *n, const fire_divisor_t &d)
{
    uint64_t quotient = fire_divide(*n, d);
    unsigned rest     = (unsigned)(*n - quotient * d.by);

    *n = quotient;
    return rest;
}
#endif
