/* range.c - a pool's addresses for the emulator. Stands in for device/cuda/range.c. */
#include "device/cuda/cuda.h"

enum { RANGE = 256 << 20 };

fire_status_t fire_cuda_reserve(void **ptr_p, size_t *bytes_p)
{
    *bytes_p = RANGE;
    return FIRE_CUDA(cudaMalloc(ptr_p, RANGE));
}

fire_status_t fire_cuda_provide(void *ptr, size_t bytes, size_t *have_p)
{
    (void)ptr;
    *have_p = bytes;
    return FIRE_OK;
}

void fire_cuda_unreserve(void *ptr, size_t bytes, size_t have)
{
    (void)bytes;
    (void)have;
    cudaFree(ptr);
}
