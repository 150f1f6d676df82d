/* cuda.h - what GPU kernels share: errors as statuses, the worker's queue, launches. */
#ifndef FIRE_DEVICE_CUDA_CUDA_H
#define FIRE_DEVICE_CUDA_CUDA_H
#include <cuda_runtime_api.h>

#include "device/device.h"

FIRE_BEGIN_C
#define FIRE_CUDA(call) fire_cuda_status((call), #call, __FILE__, __LINE__)
fire_status_t fire_cuda_status(cudaError_t rc, const char *what, const char *file,
                               int line);

struct fire_stream {
    int          device;
    int          multiprocessors;
    cudaStream_t queue;
    void        *cudnn, *cublas; /* handles, made when first asked for */
    void        *workspace;      /* scratch for libraries, grows */
    size_t       workspace_bytes;
};

/* Scratch memory of at least `bytes`, valid until the next call. */
fire_status_t fire_cuda_workspace(fire_stream_t *s, size_t bytes, void **memory_p);

enum { FIRE_CUDA_BLOCK = 256 };

/* Blocks for n elements, enough to fill the GPU and no more: kernels loop. */
static inline unsigned fire_cuda_grid(const fire_stream_t *s, int64_t n)
{
    int64_t blocks = (n + FIRE_CUDA_BLOCK - 1) / FIRE_CUDA_BLOCK;
    int64_t most   = (int64_t)s->multiprocessors * 16;

    return (unsigned)(blocks < 1 ? 1 : blocks < most ? blocks : most);
}
FIRE_END_C

#ifdef __CUDACC__
#    define FIRE_GRID_STRIDE(i, n)                                                \
        for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < (n); \
             i += (int64_t)gridDim.x * blockDim.x)
#    define FIRE_LAUNCH(kernel, s, n, ...)                                     \
        (kernel<<<fire_cuda_grid((s), (n)), FIRE_CUDA_BLOCK, 0, (s)->queue>>>( \
             __VA_ARGS__),                                                     \
         FIRE_CUDA(cudaGetLastError()))
#endif
#endif
