/* map.h - out[i] = f(in[i], ...) over arrays of one number format, 16 bytes at a time:
 * fewer instructions for the same bytes, which keeps more loads in flight. f takes and
 * returns float. */
#ifndef FIRE_DEVICE_CUDA_KERNEL_MAP_H
#define FIRE_DEVICE_CUDA_KERNEL_MAP_H
#include "device/cuda/launch.h"

enum { FIRE_VECTOR_BYTES = 16 };

template <typename T> struct __align__(16) fire_vector
{
    enum { N = FIRE_VECTOR_BYTES / sizeof(T) };
    T v[N];
};

template <typename T>
__device__ static inline fire_vector<T> fire_load(const T *p, int64_t i)
{
    return reinterpret_cast<const fire_vector<T> *>(p)[i];
}

template <typename T, typename F, typename... In>
__device__ static inline void fire_map_vector(const F &f, T *out, int64_t i, In... in)
{
    fire_vector<T> o;

#pragma unroll
    for (int k = 0; k < fire_vector<T>::N; k++)
        o.v[k] = (T)f((float)in.v[k]...);
    reinterpret_cast<fire_vector<T> *>(out)[i] = o;
}

/* Threads make whole vectors, then the elements left over; without alignment all one by
 * one. out may be one of `in`: every element is read before it is written. */
template <typename T, typename F, typename... In>
__global__ static void fire_map_kernel(int64_t n, bool aligned, F f, T *out,
                                       const In *...in)
{
    int64_t whole = aligned ? n / fire_vector<T>::N : 0;

    FIRE_GRID_STRIDE (i, whole)
        fire_map_vector(f, out, i, fire_load(in, i)...);
    FIRE_GRID_STRIDE (i, n - whole * fire_vector<T>::N) {
        int64_t k = whole * fire_vector<T>::N + i;

        out[k] = (T)f((float)in[k]...);
    }
}

static inline bool fire_is_aligned(const void *p)
{
    return (uintptr_t)p % FIRE_VECTOR_BYTES == 0;
}

template <typename T, typename F, typename... In>
static fire_status_t fire_map(fire_stream_t *s, int64_t n, F f, T *out, const In *...in)
{
    bool aligned = (fire_is_aligned(in) && ... && fire_is_aligned(out));

    if (n == 0) return FIRE_OK;
    return FIRE_LAUNCH_GRID(s, fire_cuda_grid(s, n / fire_vector<T>::N + 1),
                            FIRE_CUDA_BLOCK, (fire_map_kernel<T, F, In...>), n, aligned,
                            f, out, in...);
}
#endif
