/* libs.h - NVIDIA's libraries, opened when they are first needed. Looked for, in this
 * order: in the folders of FIRE_CUDA_LIBS (separated by colons), where the dynamic linker
 * looks, and in the nvidia/X/lib folders beside a python3's packages. */
#ifndef FIRE_DEVICE_CUDA_LIBS_H
#define FIRE_DEVICE_CUDA_LIBS_H
#include "device/cuda/cuda.h"

/* It stays open for the life of the process. An error names what was tried. */
fire_status_t fire_cuda_lib_open(const char *name, void **lib_p);
/* call_p: where the address of the function goes. */
fire_status_t fire_cuda_lib_find(void *lib, const char *name, void *call_p);
#endif
