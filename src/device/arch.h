/* arch.h - which GPUs a build's code runs on. A compute capability is one number here: 75
 * for 7.5, 120 for 12.0. A build's list is text as "75,80,90", ascending, "" without CUDA
 * (cmake/cuda_archs.cmake). */
#ifndef FIRE_DEVICE_ARCH_H
#define FIRE_DEVICE_ARCH_H
#include <stddef.h>

#include "device/device.h"

FIRE_BEGIN_C
typedef enum fire_arch_fit {
    FIRE_ARCH_NONE, /* no code of the build runs on the GPU */
    FIRE_ARCH_PTX,  /* the driver compiles the PTX of the list's last entry */
    FIRE_ARCH_CODE  /* machine code runs: of the same major version, and not newer */
} fire_arch_fit_t;

/* How a build for `archs` runs on a GPU of that compute capability. */
fire_arch_fit_t fire_arch_match(const char *archs, int capability);

/* "7.5, 8.0, 9.0; newer ones by PTX of 9.0", cut to size; "none" for "". */
void fire_arch_describe(const char *archs, char *text, size_t size);

/* Fails unless a GPU of that compute capability can compute in a precision: bf16 and tf32
 * need 8.0, float32 and fp16 are in every GPU that a build can be for. */
fire_status_t fire_arch_check_precision(int capability, fire_dtype_t precision,
                                        bool tf32);
FIRE_END_C
#endif
