/* convert.h - conversions between number formats and layouts on the CPU. */
#ifndef FIRE_DEVICE_CPU_CONVERT_H
#define FIRE_DEVICE_CPU_CONVERT_H
#include "base/half.h"
#include "device/device.h"

/* fire_device_t.convert of the CPU. */
fire_status_t fire_cpu_convert(const fire_format_t *from, const void *src,
                               const fire_format_t *to, void *dst, int ndim,
                               const int64_t *dim);
#endif
