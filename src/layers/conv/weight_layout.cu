/* weight_layout.cu - see weight_layout.h. */
#include "layers/conv/weight_layout.h"

#include "device/cuda/launch.h"

/* A thread makes one element of dst per turn, so that writes are contiguous; neighbours
 * read the few taps of a channel from as many rows of src. */
template <typename T>
__global__ static void gather(int64_t n, unsigned channels, unsigned taps, const T *src,
                              bool add, float *dst)
{
    FIRE_GRID_STRIDE (i, n) {
        unsigned tap   = (unsigned)(i % taps);
        int64_t  above = i / taps;
        unsigned c     = (unsigned)(above % channels);
        int64_t  row   = above / channels;
        float    v     = (float)src[(row * taps + tap) * channels + c];

        dst[i] = add ? dst[i] + v : v;
    }
}

fire_status_t fire_gpu_weights_from_nhwc(fire_stream_t *s, fire_dtype_t dtype,
                                         int64_t rows, int64_t channels, int64_t taps,
                                         const void *src, bool add, float *dst)
{
    int64_t n = rows * channels * taps;

    FIRE_WITH_TYPE(dtype, T,
                   return FIRE_LAUNCH(s, n, gather<T>, n, (unsigned)channels,
                                      (unsigned)taps, (const T *)src, add, dst))
    return FIRE_OK;
}
