/* even.h - offsets in FIRE_EVEN arrays (num, ceil(h / 2), ceil(w / 2), c), which store
 * only the even rows and columns of an NHWC array (num, h, w, c), and back. */
#ifndef FIRE_DEVICE_CUDA_KERNEL_EVEN_H
#define FIRE_DEVICE_CUDA_KERNEL_EVEN_H
#include "device/cuda/kernel/divide.h"
#include "device/cuda/kernel/lanes.h"

/* The sizes of both arrays, as divisors; half_: rounded up. */
typedef struct fire_even {
    fire_divisor_t channels, width, height, half_width, half_height;
} fire_even_t;

static inline fire_even_t fire_even(int64_t channels, int64_t height, int64_t width)
{
    return (fire_even_t){fire_divisor(channels), fire_divisor(width),
                         fire_divisor(height), fire_divisor((width + 1) / 2),
                         fire_divisor((height + 1) / 2)};
}

/* Offset in the full array of element `at` of the even one. */
__device__ static inline int64_t fire_even_up(const fire_even_t &e, int64_t at)
{
    uint64_t image = (uint64_t)at;
    unsigned c     = fire_divmod(&image, e.channels);
    unsigned x     = fire_divmod(&image, e.half_width);
    unsigned y     = fire_divmod(&image, e.half_height);

    return (int64_t)(((image * e.height.by + 2 * y) * e.width.by + 2 * x) *
                         e.channels.by +
                     c);
}

/* V elements at offset `at` of the full array, read from the even one `p`: zeros where
 * row or column is odd. */
template <int V, typename T>
__device__ static inline fire_raw<V, T> fire_even_load(const fire_even_t &e, const T *p,
                                                       int64_t at)
{
    uint64_t       image = (uint64_t)at;
    unsigned       c     = fire_divmod(&image, e.channels);
    unsigned       x     = fire_divmod(&image, e.width);
    unsigned       y     = fire_divmod(&image, e.height);
    fire_raw<V, T> zero;

    if (((x | y) & 1) == 0)
        return fire_raw_load<V>(
            p,
            (int64_t)(((image * e.half_height.by + y / 2) * e.half_width.by + x / 2) *
                          e.channels.by +
                      c));
#pragma unroll
    for (int k = 0; k < V; k++)
        zero.v[k] = (T)0.0f;
    return zero;
}
#endif
