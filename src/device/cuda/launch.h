/* launch.h - how .cu files start kernels: grid-stride loops, launches as statuses, and
 * a switch from a dtype to its C++ type. Kernels are launched with at least one
 * block. */
#ifndef FIRE_DEVICE_CUDA_LAUNCH_H
#define FIRE_DEVICE_CUDA_LAUNCH_H
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "device/cuda/cuda.h"

/* for (int64_t i = 0; i < n; i++), shared by all threads of the grid: neighbouring
 * threads get neighbouring elements, and any grid covers any n. */
#define FIRE_GRID_STRIDE(i, n)                                                \
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < (n); \
         i += (int64_t)gridDim.x * blockDim.x)

/* Start kernel(...) on a CUDA stream; the value is a status. A kernel with several
 * template arguments needs parentheses around it. */
#ifndef FIRE_LAUNCH_ON /* an emulator has its own */
/* clang-format off */
#    define FIRE_LAUNCH_ON(queue, grid, block, kernel, ...)      \
        ((kernel)<<<(grid), (block), 0, (queue)>>>(__VA_ARGS__), \
         FIRE_CUDA(cudaGetLastError()))
/* clang-format on */
#endif
#define FIRE_LAUNCH_GRID(s, grid, block, kernel, ...) \
    FIRE_LAUNCH_ON((s)->main.stream, grid, block, kernel, __VA_ARGS__)
/* For kernels that loop over n elements by FIRE_GRID_STRIDE; nothing is started for
 * 0. */
#define FIRE_LAUNCH(s, n, kernel, ...)                                                \
    ((n) > 0 ? FIRE_LAUNCH_GRID(s, fire_cuda_grid((s), (n)), FIRE_CUDA_BLOCK, kernel, \
                                __VA_ARGS__)                                          \
             : FIRE_OK)

/* Compile a statement for each dtype, with T as its C++ type, and run the right one. */
#define FIRE_WITH_TYPE(dtype, T, ...) \
    switch (dtype) {                  \
    case FIRE_BF16: {                 \
        using T = __nv_bfloat16;      \
        __VA_ARGS__;                  \
        break;                        \
    }                                 \
    case FIRE_F16: {                  \
        using T = __half;             \
        __VA_ARGS__;                  \
        break;                        \
    }                                 \
    default: {                        \
        using T = float;              \
        __VA_ARGS__;                  \
        break;                        \
    }                                 \
    }
#endif
