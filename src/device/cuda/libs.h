/* libs.h - NVIDIA's libraries, opened when they are first needed. Looked for, in this
 * order: in the folders of FIRE_CUDA_LIBS (separated by colons), where the dynamic linker
 * looks, and in the nvidia/X/lib folders beside a python3's packages. */
#ifndef FIRE_DEVICE_CUDA_LIBS_H
#define FIRE_DEVICE_CUDA_LIBS_H
#include "device/cuda/cuda.h"

/* A library must be as its header was: the header's number ends the file's name. */
#define FIRE_CUDA_WORD(number)  FIRE_CUDA_WORD_(number)
#define FIRE_CUDA_WORD_(number) #number

/* A function, and where its address goes. */
typedef struct fire_cuda_call {
    const char *name;
    void       *call_p;
} fire_cuda_call_t;

typedef struct fire_cuda_lib {
    const char             *file;
    const fire_cuda_call_t *call; /* ends with {0} */
    bool                    is_open;
} fire_cuda_lib_t;

/* Open it, once; it stays open for the life of the process. Any thread may call. An
 * error names what was tried. */
fire_status_t fire_cuda_lib_open(fire_cuda_lib_t *lib);
#endif
