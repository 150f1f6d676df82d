/* convert.h - number formats and layouts on the CPU. */
#ifndef FIRE_DEVICE_CPU_CONVERT_H
#define FIRE_DEVICE_CPU_CONVERT_H
#include "device/device.h"

fire_status_t fire_cpu_convert(const fire_format_t *from, const void *src,
                               const fire_format_t *to, void *dst, int ndim,
                               const int64_t *dim);

/* bfloat16: the upper half of a float32, rounded to nearest even, NaN kept. */
static inline uint16_t fire_to_bf16(float x)
{
    union {
        float    f;
        uint32_t u;
    } v = {x};

    if ((v.u & 0x7fffffffu) > 0x7f800000u) return (uint16_t)((v.u >> 16) | 0x40u);
    return (uint16_t)((v.u + 0x7fffu + ((v.u >> 16) & 1u)) >> 16);
}

static inline float fire_from_bf16(uint16_t h)
{
    union {
        uint32_t u;
        float    f;
    } v = {(uint32_t)h << 16};

    return v.f;
}

uint16_t fire_to_f16(float x);
float    fire_from_f16(uint16_t h);
#endif
