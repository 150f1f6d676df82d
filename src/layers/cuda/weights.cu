#include "layers/cuda/weights.h"

#include "layers/cuda/map.h"

/* Threads follow dst; the taps of a channel, few, are read from as many places. */
template <typename T>
__global__ static void gather(int64_t n, unsigned channels, unsigned pitch,
                              unsigned taps, const T *src, bool add, float *dst)
{
    FIRE_GRID_STRIDE (i, n) {
        unsigned tap   = (unsigned)(i % taps);
        int64_t  above = i / taps;
        unsigned c     = (unsigned)(above % channels);
        int64_t  row   = above / channels;
        float    v     = (float)src[(row * taps + tap) * pitch + c];

        dst[i] = add ? dst[i] + v : v;
    }
}

fire_status_t fire_gpu_weights_gather(fire_stream_t *s, fire_dtype_t dtype,
                                      int64_t rows, int64_t channels, int64_t pitch,
                                      int64_t taps, const void *src, bool add,
                                      float *dst)
{
    int64_t n = rows * channels * taps;

    FIRE_WITH_TYPE(dtype, T,
                   return FIRE_LAUNCH(s, n, gather<T>, n, (unsigned)channels,
                                      (unsigned)pitch, (unsigned)taps, (const T *)src,
                                      add, dst))
    return FIRE_OK;
}

/* A thread has one place of one row and writes a whole vector of channels. */
template <typename T>
__global__ static void pad(int64_t n, int64_t plane, int channels, const float *src,
                           T *dst)
{
    FIRE_GRID_STRIDE (i, n) {
        const float   *from = src + i / plane * plane * channels + i % plane;
        fire_vector<T> v;

#pragma unroll
        for (int c = 0; c < fire_vector<T>::N; c++)
            v.v[c] = (T)(c < channels ? from[c * plane] : 0.0f);
        reinterpret_cast<fire_vector<T> *>(dst)[i] = v;
    }
}

fire_status_t fire_gpu_pad_channels(fire_stream_t *s, fire_dtype_t dtype, int64_t rows,
                                    int64_t channels, int64_t plane, const float *src,
                                    void *dst)
{
    int64_t n = rows * plane;

    FIRE_WITH_TYPE(
        dtype, T,
        return FIRE_LAUNCH(s, n, pad<T>, n, plane, (int)channels, src, (T *)dst))
    return FIRE_OK;
}
