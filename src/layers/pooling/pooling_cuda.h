/* pooling_cuda.h - what Pooling's two passes on the GPU share: positions, windows, and
 * the choice of a template by format.
 *
 * Template arguments: T, number format; LAST, channels last (NHWC) or first (NCHW); V,
 * channels a thread takes at once, 1 unless LAST; I, integer type of the index. */
#ifndef FIRE_LAYERS_POOLING_POOLING_CUDA_H
#define FIRE_LAYERS_POOLING_POOLING_CUDA_H
#include "device/cuda/kernel/divide.h"
#include "device/cuda/kernel/lanes.h"
#include "layers/layer_cuda.h"
#include "layers/pooling/pooling.h"

/* fire_pool_windows_t in 32 bits, with divisors; passed to kernels by value. */
typedef struct fire_pool_shape {
    int            channels;
    int            in[2], out[2], kernel[2], stride[2], pad[2];
    fire_divisor_t by_channels, by_vectors, by_in[2], by_out[2], by_stride[2];
} fire_pool_shape_t;

/* Place (h, w) of an image, channels c ... c + V - 1. */
struct fire_pool_place {
    int64_t image;
    int     c, h, w;
};

/* Place of element i (counted in vectors of V) of an array of planes dim. */
template <bool LAST, int V>
__device__ static inline fire_pool_place
fire_pool_place_of(uint64_t i, const fire_pool_shape_t &s, const fire_divisor_t dim[2])
{
    fire_pool_place p;

    if (LAST) p.c = (int)fire_divmod(&i, V > 1 ? s.by_vectors : s.by_channels) * V;
    p.w = (int)fire_divmod(&i, dim[1]);
    p.h = (int)fire_divmod(&i, dim[0]);
    if (!LAST) p.c = (int)fire_divmod(&i, s.by_channels);
    p.image = (int64_t)i;
    return p;
}

/* Offset of place (h, w) in the same image and channel as p, in an array of planes
 * dim. */
template <bool LAST>
__device__ static inline int64_t fire_pool_address(const fire_pool_place &p,
                                                   int channels, const int dim[2],
                                                   int h, int w)
{
    return LAST ? ((p.image * dim[0] + h) * dim[1] + w) * channels + p.c
                : ((p.image * channels + p.c) * dim[0] + h) * dim[1] + w;
}

/* A window: where it begins, its part inside the image, and its area as in
 * fire_pool_box_t. */
struct fire_pool_window {
    int start[2], begin[2], end[2];
    int area;
};

__device__ static inline fire_pool_window
fire_pool_window_at(const fire_pool_shape_t &s, int h, int w)
{
    int              at[2] = {h, w};
    fire_pool_window b;

    b.area = 1;
    for (int i = 0; i < 2; i++) {
        int end = b.start[i] = at[i] * s.stride[i] - s.pad[i];

        end = min(end + s.kernel[i], s.in[i] + s.pad[i]);
        b.area *= end - b.start[i];
        b.begin[i] = max(b.start[i], 0);
        b.end[i]   = min(end, s.in[i]);
    }
    return b;
}

typedef struct fire_pooling_cuda {
    fire_gpu_memory_t index;  /* tap of its window that each output came from */
    fire_format_t     format; /* of the last forward */
} fire_pooling_cuda_t;

static inline fire_pool_shape_t fire_pool_shape_of(const fire_layer_t *l)
{
    const fire_pool_windows_t *p = &((const fire_pooling_t *)l->state)->shape;
    fire_pool_shape_t          s;

    s.channels    = (int)l->bottom[0]->dim[1];
    s.by_channels = fire_divisor(s.channels);
    s.by_vectors  = fire_divisor(s.channels / (l->ctx->precision == FIRE_F32 ? 4 : 8));
    for (int i = 0; i < 2; i++) {
        s.in[i]        = (int)p->in[i];
        s.out[i]       = (int)p->out[i];
        s.kernel[i]    = (int)p->kernel[i];
        s.stride[i]    = (int)p->stride[i];
        s.pad[i]       = (int)p->pad[i];
        s.by_in[i]     = fire_divisor(p->in[i]);
        s.by_out[i]    = fire_divisor(p->out[i]);
        s.by_stride[i] = fire_divisor(p->stride[i]);
    }
    return s;
}

/* Does a byte hold any tap, and one more value for "none"? */
static inline bool fire_pool_is_small(const fire_pool_shape_t &s)
{
    return s.kernel[0] * s.kernel[1] < 255;
}

/* Return run<T, LAST, V, I>(...), with the arguments that fit the layer's format and
 * windows. */
#define FIRE_POOL_DISPATCH(run, l, f, ...)                                \
    FIRE_WITH_TYPE((f)->dtype, T, {                                       \
        constexpr int V      = fire_vector<T>::N;                         \
        bool          small_ = fire_pool_is_small(fire_pool_shape_of(l)); \
                                                                          \
        if ((f)->layout != FIRE_NHWC)                                     \
            return small_ ? run<T, false, 1, uint8_t>(__VA_ARGS__)        \
                          : run<T, false, 1, int32_t>(__VA_ARGS__);       \
        if ((l)->bottom[0]->dim[1] % V != 0)                              \
            return small_ ? run<T, true, 1, uint8_t>(__VA_ARGS__)         \
                          : run<T, true, 1, int32_t>(__VA_ARGS__);        \
        return small_ ? run<T, true, V, uint8_t>(__VA_ARGS__)             \
                      : run<T, true, V, int32_t>(__VA_ARGS__);            \
    })

FIRE_BEGIN_C
fire_status_t fire_pooling_cuda_backward(fire_layer_t *l); /* pooling_back.cu */
FIRE_END_C
#endif
