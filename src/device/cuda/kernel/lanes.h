/* lanes.h - V neighbouring elements that a thread loads and stores by one instruction
 * of up to 16 bytes. `at` counts elements and is a multiple of V. */
#ifndef FIRE_DEVICE_CUDA_KERNEL_LANES_H
#define FIRE_DEVICE_CUDA_KERNEL_LANES_H
#include "device/cuda/kernel/map.h"

/* In their own number format: a thread that loads many early and converts them late
 * needs fewer registers than if they were float32 from the start. */
template <int V, typename T> struct __align__(V * sizeof(T)) fire_raw
{
    T v[V];
};

template <int V, typename T>
__device__ static inline fire_raw<V, T> fire_raw_load(const T *p, int64_t at)
{
    return *reinterpret_cast<const fire_raw<V, T> *>(p + at);
}

/* V elements as float32. */
template <int V> struct fire_lanes {
    float v[V];
};

template <int V, typename T>
__device__ static inline fire_lanes<V> fire_lanes_load(const T *p, int64_t at)
{
    fire_raw<V, T> raw = fire_raw_load<V>(p, at);
    fire_lanes<V>  out;

#pragma unroll
    for (int k = 0; k < V; k++)
        out.v[k] = (float)raw.v[k];
    return out;
}

template <int V, typename T>
__device__ static inline void fire_lanes_store(T *p, int64_t at,
                                               const fire_lanes<V> &in)
{
    fire_raw<V, T> raw;

#pragma unroll
    for (int k = 0; k < V; k++)
        raw.v[k] = (T)in.v[k];
    *reinterpret_cast<fire_raw<V, T> *>(p + at) = raw;
}

/* Loads from float32 one by one, at any alignment. */
template <int V>
__device__ static inline fire_lanes<V> fire_lanes_load_plain(const float *p, int64_t at)
{
    fire_lanes<V> out;

#pragma unroll
    for (int k = 0; k < V; k++)
        out.v[k] = p[at + k];
    return out;
}

#endif
