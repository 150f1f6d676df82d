/* block.h - sums and maxima over the threads of a block, in a fixed order. */
#ifndef FIRE_LAYERS_CUDA_BLOCK_H
#define FIRE_LAYERS_CUDA_BLOCK_H
#include "device/cuda/launch.h"

struct fire_plus {
    __device__ static float of(float a, float b)
    {
        return a + b;
    }
};

struct fire_greatest {
    __device__ static float of(float a, float b)
    {
        return a > b ? a : b;
    }
};

/* Over groups of THREADS neighbours (32, or the whole block of FIRE_CUDA_BLOCK); all of
 * them get the result. */
template <int THREADS, typename OP> __device__ static inline float fire_reduce(float x)
{
    __shared__ float part[FIRE_CUDA_BLOCK / 32];

    for (int lane = 16; lane > 0; lane /= 2)
        x = OP::of(x, __shfl_xor_sync(0xffffffffu, x, lane));
    if (THREADS == 32) return x;
    __syncthreads(); /* a reduction before may still be read */
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = x;
    __syncthreads();
    x = part[0];
    for (int i = 1; i < FIRE_CUDA_BLOCK / 32; i++)
        x = OP::of(x, part[i]);
    return x;
}

__device__ static inline float fire_block_sum(float x)
{
    return fire_reduce<FIRE_CUDA_BLOCK, fire_plus>(x);
}
#endif
