/* norm_channel.h - what the kernels of norm.cu and norm_back.cu keep of a channel. */
#ifndef FIRE_LAYERS_CUDA_NORM_CHANNEL_H
#define FIRE_LAYERS_CUDA_NORM_CHANNEL_H
#include "layers/cuda/channel.h"
#include "layers/cuda/norm.h"

/* Few numbers, as registers are. */
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

/* Element i before the activation. */
template <int V>
__device__ static inline float fire_norm_value(const fire_norm_channel<V> &k, int i,
                                               float x)
{
    return (x - k.mean.v[i]) * k.scale.v[i] + k.shift.v[i];
}
#endif
