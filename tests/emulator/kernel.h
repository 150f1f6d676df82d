/* kernel.h - makes .cu files compile as C++ for the CPU: CUDA's keywords, built-in
 * variables and functions as far as our kernels use them. Force-included before every
 * .cu file. */
#ifndef EMULATOR_KERNEL_H
#define EMULATOR_KERNEL_H
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "cuda_runtime_api.h"

#define FIRE_EMULATED 1
#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __restrict__ __restrict
#define __shared__   static thread_local /* a thread runs one block at a time */
#define __align__(n) __attribute__((aligned(n)))
#define __expf       expf
#define __logf       logf
#define __powf       powf

struct dim3 {
    unsigned x, y, z;
    dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_)
    {
    }
};

struct __align__(8) float2
{
    float x, y;
};
struct __align__(16) float4
{
    float x, y, z, w;
};
struct __align__(8) uint2
{
    unsigned x, y;
};
struct __align__(16) uint4
{
    unsigned x, y, z, w;
};

static inline float4 make_float4(float x, float y, float z, float w)
{
    return {x, y, z, w};
}

extern thread_local dim3 threadIdx, blockIdx, blockDim, gridDim;

void __syncthreads();
void __syncwarp(unsigned mask = 0xffffffffu);
/* The bits that lane `from` of this warp passes in the same call; the caller's own
 * where there is no such lane. And the caller's lane. */
uint64_t emulator_exchange(uint64_t bits, int from);
int      emulator_lane();

template <typename T> static inline T emulator_shuffle(T value, int from)
{
    uint64_t bits = 0;

    static_assert(sizeof(T) <= sizeof(bits), "too wide for a shuffle");
    memcpy(&bits, &value, sizeof(value));
    bits = emulator_exchange(bits, from);
    memcpy(&value, &bits, sizeof(value));
    return value;
}

template <typename T>
static inline T __shfl_xor_sync(unsigned, T value, int mask, int = 32)
{
    return emulator_shuffle(value, emulator_lane() ^ mask);
}

template <typename T>
static inline T __shfl_down_sync(unsigned, T value, int delta, int = 32)
{
    return emulator_shuffle(value, emulator_lane() + delta);
}

template <typename T>
static inline T __shfl_up_sync(unsigned, T value, int delta, int = 32)
{
    return emulator_shuffle(value, emulator_lane() - delta);
}

template <typename T> static inline T __shfl_sync(unsigned, T value, int from, int = 32)
{
    return emulator_shuffle(value, from);
}

static inline float rsqrtf(float x)
{
    return 1.0f / sqrtf(x);
}
static inline float __fdividef(float x, float y)
{
    return x / y;
}
static inline unsigned __float_as_uint(float x)
{
    unsigned u;

    memcpy(&u, &x, sizeof(u));
    return u;
}
static inline float __uint_as_float(unsigned u)
{
    float x;

    memcpy(&x, &u, sizeof(x));
    return x;
}
static inline uint32_t __umulhi(uint32_t a, uint32_t b)
{
    return (uint32_t)(((uint64_t)a * b) >> 32);
}
static inline int atomicMax(int *p, int value)
{
    int before = *p;

    if (value > before) *p = value;
    return before;
}
template <typename T> static inline T __ldg(const T *p)
{
    return *p;
}
template <typename T> static inline T __ldcs(const T *p)
{
    return *p;
}
template <typename T> static inline void __stcs(T *p, T v)
{
    *p = v;
}
template <typename T> static inline T min(T a, T b)
{
    return b < a ? b : a;
}
template <typename T> static inline T max(T a, T b)
{
    return a < b ? b : a;
}

/* Call body.run() as every thread of every block of the grid, block after block. */
struct emulator_body {
    virtual void run() = 0;
};
void emulator_launch(dim3 grid, dim3 block, emulator_body &body);

template <typename F> static void emulator_run(dim3 grid, dim3 block, F f)
{
    struct body : emulator_body {
        F   *f;
        void run() override
        {
            (*f)();
        }
    } b;

    b.f = &f;
    emulator_launch(grid, block, b);
}

#define FIRE_LAUNCH_ON(queue, grid, block, kernel, ...)                            \
    (emulator_run((grid), (block), [=] { (kernel)(__VA_ARGS__); }), (void)(queue), \
     FIRE_OK)
#endif
