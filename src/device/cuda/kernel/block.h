/* block.h - sums and maxima over the threads of a block, in an order that is the same
 * on every run and GPU. */
#ifndef FIRE_DEVICE_CUDA_KERNEL_BLOCK_H
#define FIRE_DEVICE_CUDA_KERNEL_BLOCK_H
#include "device/cuda/launch.h"

struct fire_plus {
    template <typename T> __device__ static T of(T a, T b)
    {
        return a + b;
    }
};

struct fire_greatest {
    template <typename T> __device__ static T of(T a, T b)
    {
        return a > b ? a : b;
    }
};

/* Reduce x over groups of THREADS neighbouring threads: a power of two up to 32, or the
 * whole block of FIRE_CUDA_BLOCK. All threads of the block must call, and all of a
 * group get the result. */
template <int THREADS, typename OP, typename T>
__device__ static inline T fire_reduce(T x)
{
    __shared__ T part[FIRE_CUDA_BLOCK / 32];

    for (int lane = (THREADS < 32 ? THREADS : 32) / 2; lane > 0; lane /= 2)
        x = OP::of(x, __shfl_xor_sync(0xffffffffu, x, lane));
    if (THREADS <= 32) return x;
    __syncthreads(); /* threads may still read `part` of the call before */
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = x;
    __syncthreads();
    x = part[0];
    for (int i = 1; i < FIRE_CUDA_BLOCK / 32; i++)
        x = OP::of(x, part[i]);
    return x;
}

template <typename T> __device__ static inline T fire_block_sum(T x)
{
    return fire_reduce<FIRE_CUDA_BLOCK, fire_plus>(x);
}
#endif
