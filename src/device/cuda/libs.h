/* libs.h - NVIDIA's libraries (cuBLAS, cuDNN, NCCL, the driver), opened when first
 * needed, so that one program runs with and without them. Searched in this order: the
 * folders of FIRE_CUDA_LIBS (separated by colons), the dynamic linker's, and the
 * nvidia/X/lib folders of python3's packages. */
#ifndef FIRE_DEVICE_CUDA_LIBS_H
#define FIRE_DEVICE_CUDA_LIBS_H
#include "device/cuda/cuda.h"

/* A number of a header as a string: "libcublas.so." FIRE_CUDA_WORD(CUBLAS_VER_MAJOR)
 * asks for the major version that we were compiled for. */
#define FIRE_CUDA_WORD(number)  FIRE_CUDA_WORD_(number)
#define FIRE_CUDA_WORD_(number) #number

/* A function of a library, and the pointer to store its address in. */
typedef struct fire_cuda_call {
    const char *name;
    void       *call_p;
} fire_cuda_call_t;

typedef struct fire_cuda_lib {
    const char             *file;
    const fire_cuda_call_t *call; /* ends with {0} */
    bool                    is_open;
} fire_cuda_lib_t;

/* Open a library and fill in its calls, once; it stays open until the process ends. Any
 * thread may call. The error says how to make the library found. */
fire_status_t fire_cuda_lib_open(fire_cuda_lib_t *lib);
#endif
