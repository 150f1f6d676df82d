/* space_to_depth.cu - see space_to_depth.h. */
#include "layers/conv/space_to_depth.h"

#include "device/cuda/kernel/map.h"

/* A thread makes a vector of 16 bytes of dst per turn. 32 bits count these vectors:
 * more would take 64 GiB. */
template <typename T>
__global__ static void space_to_depth(int64_t n, fire_gpu_space_to_depth_t f,
                                      const float *src, T *dst)
{
    unsigned vectors = (unsigned)f.pitch / fire_vector<T>::N;
    unsigned square  = (unsigned)(f.factor * f.factor);
    unsigned places  = (unsigned)(f.out[0] * f.out[1]);

    FIRE_GRID_STRIDE (i, n) {
        unsigned       first = (unsigned)i % vectors * fire_vector<T>::N;
        unsigned       place = (unsigned)i / vectors % places;
        int64_t        row   = (unsigned)i / vectors / places;
        int            y     = (int)(place / f.out[1]) * f.factor - f.before[0];
        int            x     = (int)(place % f.out[1]) * f.factor - f.before[1];
        const float   *from  = src + row * f.channels * f.in[0] * f.in[1];
        fire_vector<T> v;

#pragma unroll
        for (int k = 0; k < fire_vector<T>::N; k++) {
            unsigned at = first + k, c = at / square, part = at % square;
            int      h = y + (int)(part / f.factor), w = x + (int)(part % f.factor);
            bool     inside =
                (int)c < f.channels && h >= 0 && h < f.in[0] && w >= 0 && w < f.in[1];

            v.v[k] = (T)(inside ? from[(c * f.in[0] + h) * f.in[1] + w] : 0.0f);
        }
        reinterpret_cast<fire_vector<T> *>(dst)[i] = v;
    }
}

fire_status_t fire_gpu_space_to_depth(fire_stream_t *s, fire_dtype_t dtype,
                                      const fire_gpu_space_to_depth_t *f,
                                      const float *src, void *dst)
{
    int64_t n = f->rows * f->out[0] * f->out[1] * f->pitch;

    FIRE_WITH_TYPE(dtype, T,
                   return FIRE_LAUNCH(s, n / fire_vector<T>::N, space_to_depth<T>,
                                      n / fire_vector<T>::N, *f, src, (T *)dst))
    return FIRE_OK;
}

/* A thread makes one element of dst per turn. */
template <typename T>
__global__ static void depth_to_space(int64_t n, fire_gpu_space_to_depth_t f,
                                      const T *src, bool add, float *dst)
{
    FIRE_GRID_STRIDE (i, n) {
        int     x   = (int)(i % f.in[1]) + f.before[1];
        int     y   = (int)(i / f.in[1] % f.in[0]) + f.before[0];
        int64_t row = i / f.in[1] / f.in[0] / f.channels;
        int     c   = (int)(i / f.in[1] / f.in[0] % f.channels);
        int64_t at  = (row * f.out[0] + y / f.factor) * f.out[1] + x / f.factor;
        float   v   = (float)
            src[at * f.pitch + (c * f.factor + y % f.factor) * f.factor + x % f.factor];

        dst[i] = add ? dst[i] + v : v;
    }
}

fire_status_t fire_gpu_depth_to_space(fire_stream_t *s, fire_dtype_t dtype,
                                      const fire_gpu_space_to_depth_t *f,
                                      const void *src, bool add, float *dst)
{
    int64_t n = f->rows * f->channels * f->in[0] * f->in[1];

    FIRE_WITH_TYPE(
        dtype, T,
        return FIRE_LAUNCH(s, n, depth_to_space<T>, n, *f, (const T *)src, add, dst))
    return FIRE_OK;
}
