/* precision.h - which number formats this CPU can compute with. */
#ifndef FIRE_DEVICE_CPU_PRECISION_H
#define FIRE_DEVICE_CPU_PRECISION_H
#include "device/device.h"

/* Fails, with the reason, if activations of this format do not work on this CPU, or are
 * slower than float32. */
fire_status_t fire_cpu_check_precision(fire_dtype_t precision);
#endif
