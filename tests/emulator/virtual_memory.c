/* virtual_memory.c - memory of pools in the emulator, in place of the file of that name in
 * src/device/cuda: a fixed range, all of it allocated at once. */
#include "device/cuda/cuda.h"

enum { RANGE = 256 << 20 };

fire_status_t fire_cuda_reserve(void **ptr_p, size_t *bytes_p)
{
    *bytes_p = RANGE;
    return FIRE_CUDA(cudaMalloc(ptr_p, RANGE));
}

fire_status_t fire_cuda_commit(void *ptr, size_t bytes, size_t *committed_p)
{
    (void)ptr;
    *committed_p = bytes;
    return FIRE_OK;
}

void fire_cuda_release(void *ptr, size_t bytes, size_t committed)
{
    (void)bytes;
    (void)committed;
    cudaFree(ptr);
}
