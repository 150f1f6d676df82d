/* norm_channel.h - what the kernels of norm.cu and norm_back.cu share: a channel's
 * constants, and the geometry of FIRE_EVEN arrays. */
#ifndef FIRE_LAYERS_NORM_NORM_CHANNEL_H
#define FIRE_LAYERS_NORM_NORM_CHANNEL_H
#include "device/cuda/kernel/channel.h"
#include "device/cuda/kernel/even.h"
#include "layers/norm/norm.h"

static inline fire_even_t fire_norm_even(const fire_gpu_norm_t &n)
{
    return fire_even(n.view.channels, n.height, n.width);
}

/* The view of a FIRE_EVEN array. */
static inline fire_gpu_view_t fire_norm_even_view(const fire_gpu_norm_t &n)
{
    int64_t images = n.view.outer / (n.height * n.width);

    return {images * ((n.height + 1) / 2) * ((n.width + 1) / 2), n.view.channels, 1};
}

/* The constants of V channels: combined to three numbers each, to save registers. */
template <int V> struct fire_norm_channel {
    fire_lanes<V> mean, scale, shift; /* z = (x - mean) * scale + shift */

    __device__ fire_norm_channel(const fire_gpu_norm_t &n, int64_t c)
    {
#pragma unroll
        for (int k = 0; k < V; k++) {
            float inverse = n.inverse != NULL ? n.inverse[c + k] : 1.0f;

            mean.v[k]  = n.mean != NULL ? n.mean[c + k] : 0.0f;
            scale.v[k] = n.gain != NULL ? inverse * n.gain[c + k] : inverse;
            shift.v[k] = n.shift != NULL ? n.shift[c + k] : 0.0f;
        }
    }
};

/* z of element i: the value before act. */
template <int V>
__device__ static inline float fire_norm_value(const fire_norm_channel<V> &k, int i,
                                               float x)
{
    return (x - k.mean.v[i]) * k.scale.v[i] + k.shift.v[i];
}
#endif
