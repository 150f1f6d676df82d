/* convert.h - conversions between number formats and layouts on the CPU. */
#ifndef FIRE_DEVICE_CPU_CONVERT_H
#define FIRE_DEVICE_CPU_CONVERT_H
#include "base/half.h"
#include "device/device.h"

/* fire_device_t.convert of the CPU. */
fire_status_t fire_cpu_convert(const fire_format_t *from, const void *src,
                               const fire_format_t *to, void *dst, int ndim,
                               const int64_t *dim);

/* IEEE half precision, rounded to nearest even; too large becomes infinity. */
uint16_t fire_to_f16(float x);
float    fire_from_f16(uint16_t h);
#endif
