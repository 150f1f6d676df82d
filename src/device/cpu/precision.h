/* precision.h - which number formats this CPU computes with. */
#ifndef FIRE_DEVICE_CPU_PRECISION_H
#define FIRE_DEVICE_CPU_PRECISION_H
#include "device/device.h"

/* Fails, with the reason, where activations of this format would not be faster, or not
 * work at all. */
fire_status_t fire_cpu_check_precision(fire_dtype_t precision);
#endif
