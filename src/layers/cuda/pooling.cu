/* pooling.cu - Pooling on the GPU. Backward gathers: every input element looks at the
 * windows it lies in, in order, so that nothing is added by chance and nothing twice.
 *
 * Where a window's value came from is kept as its place inside the window, a byte where
 * windows are small enough. */
#include <float.h>

#include "base/philox.h"
#include "layers/cuda/divide.h"
#include "layers/cuda/kernels.h"
#include "layers/cuda/lanes.h"
#include "layers/cuda/layer_cuda.h"
#include "layers/vision/pooling.h"

typedef struct shape {
    int            channels;
    int            in[2], out[2], kernel[2], stride[2], pad[2];
    int64_t        images;
    fire_divisor_t by_channels, by_vectors, by_in[2], by_out[2], by_stride[2];
} shape_t;

/* For stochastic pooling: which numbers belong to image n. */
typedef struct draws {
    uint64_t        base; /* of the key; the step lies on the GPU */
    const uint64_t *moment;
    int64_t         first, step; /* rows of the global batch */
} draws_t;

/* A place of an image, and V channels of it. */
struct place {
    int64_t image;
    int     c, h, w;
};

template <bool LAST, int V>
__device__ static place place_of(uint64_t i, const shape_t &s,
                                 const fire_divisor_t dim[2])
{
    place p;

    if (LAST) p.c = (int)fire_take(&i, V > 1 ? s.by_vectors : s.by_channels) * V;
    p.w = (int)fire_take(&i, dim[1]);
    p.h = (int)fire_take(&i, dim[0]);
    if (!LAST) p.c = (int)fire_take(&i, s.by_channels);
    p.image = (int64_t)i;
    return p;
}

template <bool LAST>
__device__ static int64_t address(const place &p, int channels, const int dim[2], int h,
                                  int w)
{
    return LAST ? ((p.image * dim[0] + h) * dim[1] + w) * channels + p.c
                : ((p.image * channels + p.c) * dim[0] + h) * dim[1] + w;
}

/* A window: where it begins, what of it is image, how many elements it counts. */
struct window {
    int start[2], begin[2], end[2];
    int area;
};

__device__ static window window_at(const shape_t &s, int h, int w)
{
    int    at[2] = {h, w};
    window b;

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

template <typename I> __device__ static I nothing()
{
    return (I)-1;
}

/* ---- forward ---- */

/* The largest so far of V channels, and where in the window it was. */
template <int V, typename I> struct best {
    fire_lanes<V>  value;
    fire_raw<V, I> from;

    __device__ best()
    {
#pragma unroll
        for (int k = 0; k < V; k++) {
            value.v[k] = -FLT_MAX;
            from.v[k]  = nothing<I>();
        }
    }

    template <typename T> __device__ void look(const fire_raw<V, T> &v, I here)
    {
#pragma unroll
        for (int k = 0; k < V; k++)
            if ((float)v.v[k] > value.v[k]) {
                value.v[k] = (float)v.v[k];
                from.v[k]  = here;
            }
    }
};

/* A window of K x K: all of it is on its way before the first is looked at. */
template <int K, bool LAST, int V, typename T, typename I>
__device__ static void look_at_all(const shape_t &s, const place &p, const window &b,
                                   const T *x, best<V, I> *most)
{
    fire_raw<V, T> v[K * K];
    bool           inside[K * K];

#pragma unroll
    for (int i = 0; i < K * K; i++) {
        int h = b.start[0] + i / K, w = b.start[1] + i % K;

        inside[i] = h >= 0 && h < s.in[0] && w >= 0 && w < s.in[1];
        if (inside[i])
            v[i] = fire_raw_load<V>(x, address<LAST>(p, s.channels, s.in, h, w));
    }
#pragma unroll
    for (int i = 0; i < K * K; i++)
        if (inside[i]) most->look(v[i], (I)i);
}

/* K: windows are K x K; 0: any. */
template <typename T, bool LAST, int V, typename I, int K>
__global__ static void max_forward(uint64_t total, shape_t s, const T *x, T *y,
                                   I *index, float *mask)
{
    FIRE_GRID_STRIDE (i, (int64_t)total) {
        place      p  = place_of<LAST, V>((uint64_t)i, s, s.by_out);
        window     b  = window_at(s, p.h, p.w);
        int64_t    to = address<LAST>(p, s.channels, s.out, p.h, p.w);
        best<V, I> most;

        if constexpr (K > 0) look_at_all<K, LAST>(s, p, b, x, &most);
        for (int h = b.begin[0]; K == 0 && h < b.end[0]; h++)
            for (int w = b.begin[1]; w < b.end[1]; w++)
                most.look(fire_raw_load<V>(x, address<LAST>(p, s.channels, s.in, h, w)),
                          (I)((h - b.start[0]) * s.kernel[1] + w - b.start[1]));
        fire_lanes_store<V>(y, to, most.value);
        *reinterpret_cast<fire_raw<V, I> *>(index + to) = most.from;
        for (int k = 0; mask != NULL && k < V; k++) {
            int from = (int)most.from.v[k];

            mask[to + k] = most.from.v[k] == nothing<I>()
                               ? -1.0f
                               : (float)((b.start[0] + from / s.kernel[1]) * s.in[1] +
                                         b.start[1] + from % s.kernel[1]);
        }
    }
}

template <typename T, bool LAST, int V>
__global__ static void ave_forward(uint64_t total, shape_t s, const T *x, T *y)
{
    FIRE_GRID_STRIDE (i, (int64_t)total) {
        place         p   = place_of<LAST, V>((uint64_t)i, s, s.by_out);
        window        b   = window_at(s, p.h, p.w);
        fire_lanes<V> sum = {};

        for (int h = b.begin[0]; h < b.end[0]; h++)
            for (int w = b.begin[1]; w < b.end[1]; w++) {
                fire_lanes<V> v =
                    fire_lanes_load<V>(x, address<LAST>(p, s.channels, s.in, h, w));

#pragma unroll
                for (int k = 0; k < V; k++)
                    sum.v[k] += v.v[k];
            }
#pragma unroll
        for (int k = 0; k < V; k++)
            sum.v[k] = b.area != 0 ? sum.v[k] / (float)b.area : 0.0f;
        fire_lanes_store<V>(y, address<LAST>(p, s.channels, s.out, p.h, p.w), sum);
    }
}

/* Training takes an element with a probability proportional to its value. */
template <typename T, bool LAST, typename I>
__global__ static void draw_forward(uint64_t total, shape_t s, draws_t d, const T *x,
                                    T *y, I *index)
{
    FIRE_GRID_STRIDE (i, (int64_t)total) {
        place    p      = place_of<LAST, 1>((uint64_t)i, s, s.by_out);
        window   b      = window_at(s, p.h, p.w);
        int64_t  to     = address<LAST>(p, s.channels, s.out, p.h, p.w);
        uint64_t number = ((uint64_t)(d.first + p.image * d.step) * s.channels + p.c) *
                              s.out[0] * s.out[1] +
                          (uint64_t)(p.h * s.out[1] + p.w);
        float    sum = 0, limit, value = 0;
        uint32_t four[4];
        I        from  = nothing<I>();
        bool     found = false;

        fire_philox_block(fire_philox_key(d.base, *d.moment), number / 4, four);
        for (int h = b.begin[0]; h < b.end[0]; h++)
            for (int w = b.begin[1]; w < b.end[1]; w++)
                sum += (float)x[address<LAST>(p, s.channels, s.in, h, w)];
        limit = (float)(four[number % 4] >> 8) * 0x1p-24f * sum;
        sum   = 0;
        for (int h = b.begin[0]; h < b.end[0] && !found; h++)
            for (int w = b.begin[1]; w < b.end[1] && !found; w++) {
                value = (float)x[address<LAST>(p, s.channels, s.in, h, w)];
                from  = (I)((h - b.start[0]) * s.kernel[1] + w - b.start[1]);
                sum += value;
                found = sum >= limit;
            }
        y[to]     = (T)value;
        index[to] = from;
    }
}

/* Testing takes the mean under that distribution. */
template <typename T, bool LAST>
__global__ static void expect_forward(uint64_t total, shape_t s, const T *x, T *y)
{
    FIRE_GRID_STRIDE (i, (int64_t)total) {
        place  p   = place_of<LAST, 1>((uint64_t)i, s, s.by_out);
        window b   = window_at(s, p.h, p.w);
        float  sum = FLT_MIN, squares = 0;

        for (int h = b.begin[0]; h < b.end[0]; h++)
            for (int w = b.begin[1]; w < b.end[1]; w++) {
                float v = (float)x[address<LAST>(p, s.channels, s.in, h, w)];

                sum += v;
                squares += v * v;
            }
        y[address<LAST>(p, s.channels, s.out, p.h, p.w)] = (T)(squares / sum);
    }
}

/* ---- backward ---- */

/* Windows of one axis that an input element lies in: first ... end - 1. */
__device__ static void windows_of(const shape_t &s, int axis, int at, int *first,
                                  int *end)
{
    int far = at + s.pad[axis];

    *first =
        far < s.kernel[axis]
            ? 0
            : (int)fire_divide((uint64_t)(far - s.kernel[axis]), s.by_stride[axis]) + 1;
    *end = min((int)fire_divide((uint64_t)far, s.by_stride[axis]) + 1, s.out[axis]);
}

/* What one window sends to an input element. I: type of the index; void* stands for AVE,
 * which has none. */
template <int V, typename T, typename I>
__device__ static void receive(const shape_t &s, const place &p, int h, int w,
                               int64_t at, const T *dy, const I *index,
                               fire_lanes<V> *sum)
{
    window         b = window_at(s, h, w);
    fire_raw<V, T> d = fire_raw_load<V>(dy, at);

    if constexpr (sizeof(I) == sizeof(void *)) {
#pragma unroll
        for (int k = 0; k < V; k++)
            sum->v[k] += (float)d.v[k] / (float)b.area;
    } else {
        fire_raw<V, I> from = fire_raw_load<V>(index, at);
        I              here = (I)((p.h - b.start[0]) * s.kernel[1] + p.w - b.start[1]);

#pragma unroll
        for (int k = 0; k < V; k++)
            if (from.v[k] == here) sum->v[k] += (float)d.v[k];
    }
}

/* N: an element lies in at most N x N windows; 0: in any number. */
template <typename T, bool LAST, int V, typename I, int N>
__global__ static void backward(uint64_t total, shape_t s, const T *dy, const I *index,
                                T *dx)
{
    FIRE_GRID_STRIDE (i, (int64_t)total) {
        place         p   = place_of<LAST, V>((uint64_t)i, s, s.by_in);
        fire_lanes<V> sum = {};
        int           first[2], end[2];

        windows_of(s, 0, p.h, &first[0], &end[0]);
        windows_of(s, 1, p.w, &first[1], &end[1]);
#pragma unroll
        for (int k = 0; k < N * N; k++) {
            int h = first[0] + k / (N > 0 ? N : 1), w = first[1] + k % (N > 0 ? N : 1);

            if (h < end[0] && w < end[1])
                receive<V>(s, p, h, w, address<LAST>(p, s.channels, s.out, h, w), dy,
                           index, &sum);
        }
        for (int h = first[0]; N == 0 && h < end[0]; h++)
            for (int w = first[1]; w < end[1]; w++)
                receive<V>(s, p, h, w, address<LAST>(p, s.channels, s.out, h, w), dy,
                           index, &sum);
        fire_lanes_store<V>(dx, address<LAST>(p, s.channels, s.in, p.h, p.w), sum);
    }
}

/* Windows that fill the image side by side: each sends to its own elements. */
template <typename T, bool LAST, int V, typename I>
__global__ static void backward_apart(uint64_t total, shape_t s, const T *dy,
                                      const I *index, T *dx)
{
    FIRE_GRID_STRIDE (i, (int64_t)total) {
        place          p    = place_of<LAST, V>((uint64_t)i, s, s.by_out);
        int64_t        at   = address<LAST>(p, s.channels, s.out, p.h, p.w);
        fire_lanes<V>  d    = fire_lanes_load<V>(dy, at), out;
        fire_raw<V, I> from = fire_raw_load<V>(index, at);
        int            here = 0;

        for (int h = p.h * s.kernel[0]; h < (p.h + 1) * s.kernel[0]; h++)
            for (int w = p.w * s.kernel[1]; w < (p.w + 1) * s.kernel[1]; w++, here++) {
#pragma unroll
                for (int k = 0; k < V; k++)
                    out.v[k] = from.v[k] == (I)here ? d.v[k] : 0.0f;
                fire_lanes_store<V>(dx, address<LAST>(p, s.channels, s.in, h, w), out);
            }
    }
}

/* ---- the layer ---- */

typedef struct pooling_cuda {
    fire_gpu_memory_t index;
    fire_format_t     format; /* of the last forward */
} pooling_cuda_t;

fire_status_t fire_pooling_cuda_prepare(fire_layer_t *l)
{
    pooling_cuda_t *c = (pooling_cuda_t *)l->kernel_state;

    if (c == NULL) FIRE_TRY(FIRE_NEW(&c, 1));
    l->kernel_state = c;
    return FIRE_OK;
}

void fire_pooling_cuda_release(fire_layer_t *l)
{
    pooling_cuda_t *c = (pooling_cuda_t *)l->kernel_state;

    if (c == NULL) return;
    fire_gpu_memory_free(&c->index);
    fire_free(c);
    l->kernel_state = NULL;
}

static shape_t shape_of(const fire_layer_t *l)
{
    const fire_pool_t *p = &((const fire_pooling_t *)l->state)->shape;
    shape_t            s;

    s.images      = l->bottom[0]->dim[0];
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

static bool is_small(const shape_t &s)
{
    return s.kernel[0] * s.kernel[1] < 255;
}

static draws_t draws_of(const fire_layer_t *l)
{
    int64_t images = l->top[0]->dim[0], first = fire_moment_row(l->moment, images, 0);
    draws_t d = {
        fire_rng_base(l->moment->seed, FIRE_RNG_POOL, fire_rng_name(l->param->name)),
        fire_cuda_live(l->ctx->stream)->step, first, 1};

    if (images > 1) d.step = fire_moment_row(l->moment, images, 1) - first;
    return d;
}

template <typename T, bool LAST, int V, typename I>
static fire_status_t run_forward(fire_layer_t *l, const T *x, T *y, float *mask)
{
    const fire_pooling_t *p     = (const fire_pooling_t *)l->state;
    fire_stream_t        *s     = l->ctx->stream;
    shape_t               g     = shape_of(l);
    I                    *index = (I *)((pooling_cuda_t *)l->kernel_state)->index.ptr;
    uint64_t              n     = (uint64_t)fire_blob_count(l->top[0]);

    if (p->method == FIRE_POOL(MAX) && g.kernel[0] == 3 && g.kernel[1] == 3)
        return FIRE_LAUNCH(s, (int64_t)(n / V), (max_forward<T, LAST, V, I, 3>), n / V,
                           g, x, y, index, mask);
    if (p->method == FIRE_POOL(MAX) && g.kernel[0] == 2 && g.kernel[1] == 2)
        return FIRE_LAUNCH(s, (int64_t)(n / V), (max_forward<T, LAST, V, I, 2>), n / V,
                           g, x, y, index, mask);
    if (p->method == FIRE_POOL(MAX))
        return FIRE_LAUNCH(s, (int64_t)(n / V), (max_forward<T, LAST, V, I, 0>), n / V,
                           g, x, y, index, mask);
    if (p->method == FIRE_POOL(AVE))
        return FIRE_LAUNCH(s, (int64_t)(n / V), (ave_forward<T, LAST, V>), n / V, g, x,
                           y);
    if (l->phase == CAFFE__PHASE__TRAIN)
        return FIRE_LAUNCH(s, (int64_t)n, (draw_forward<T, LAST, I>), n, g, draws_of(l),
                           x, y, index);
    return FIRE_LAUNCH(s, (int64_t)n, (expect_forward<T, LAST>), n, g, x, y);
}

static bool is_apart(const shape_t &s)
{
    for (int i = 0; i < 2; i++)
        if (s.kernel[i] != s.stride[i] || s.pad[i] != 0 ||
            s.in[i] != s.out[i] * s.stride[i])
            return false;
    return true;
}

/* Along one axis, an element lies in at most so many windows. */
static int overlap(const shape_t &s)
{
    int n = 0;

    for (int i = 0; i < 2; i++)
        n = max(n, (s.kernel[i] + s.stride[i] - 1) / s.stride[i]);
    return n;
}

template <typename T, bool LAST, int V, typename I>
static fire_status_t run_backward(fire_layer_t *l, const T *dy, T *dx)
{
    const fire_pooling_t *p = (const fire_pooling_t *)l->state;
    const I *index          = (const I *)((pooling_cuda_t *)l->kernel_state)->index.ptr;
    shape_t  g              = shape_of(l);
    uint64_t n              = (uint64_t)fire_blob_count(l->bottom[0]) / V;

    if (p->method == FIRE_POOL(AVE))
        return FIRE_LAUNCH(l->ctx->stream, (int64_t)n,
                           (backward<T, LAST, V, void *, 0>), n, g, dy,
                           (void *const *)NULL, dx);
    if (is_apart(g)) {
        n = (uint64_t)fire_blob_count(l->top[0]) / V;
        return FIRE_LAUNCH(l->ctx->stream, (int64_t)n, (backward_apart<T, LAST, V, I>),
                           n, g, dy, index, dx);
    }
#define LAUNCH(N)                                                                      \
    return FIRE_LAUNCH(l->ctx->stream, (int64_t)n, (backward<T, LAST, V, I, N>), n, g, \
                       dy, index, dx)
    switch (overlap(g)) {
    case 1:
        LAUNCH(1);
    case 2:
        LAUNCH(2);
    case 3:
        LAUNCH(3);
    default:
        LAUNCH(0);
    }
#undef LAUNCH
}

/* Call run<T, LAST, V, I>(...) for the layer's format and windows. */
#define DISPATCH(run, l, f, ...)                                    \
    FIRE_WITH_TYPE((f)->dtype, T, {                                 \
        constexpr int V      = fire_vector<T>::N;                   \
        bool          small_ = is_small(shape_of(l));               \
                                                                    \
        if ((f)->layout != FIRE_NHWC)                               \
            return small_ ? run<T, false, 1, uint8_t>(__VA_ARGS__)  \
                          : run<T, false, 1, int32_t>(__VA_ARGS__); \
        if ((l)->bottom[0]->dim[1] % V != 0)                        \
            return small_ ? run<T, true, 1, uint8_t>(__VA_ARGS__)   \
                          : run<T, true, 1, int32_t>(__VA_ARGS__);  \
        return small_ ? run<T, true, V, uint8_t>(__VA_ARGS__)       \
                      : run<T, true, V, int32_t>(__VA_ARGS__);      \
    })

fire_status_t fire_pooling_cuda_forward(fire_layer_t *l)
{
    pooling_cuda_t *c    = (pooling_cuda_t *)l->kernel_state;
    fire_format_t   m    = FIRE_FORMAT_PLAIN(FIRE_GPU);
    size_t          n    = (size_t)fire_blob_count(l->top[0]);
    float          *mask = NULL;
    void           *x, *y;

    c->format = fire_gpu_format(l, l->bottom[0]);
    m.layout  = c->format.layout;
    FIRE_TRY(fire_gpu_memory_fit(&c->index, n * (is_small(shape_of(l)) ? 1 : 4)));
    FIRE_IN_AS(l->bottom[0], FIRE_DATA, &c->format, &x);
    FIRE_OUT_AS(l->top[0], FIRE_DATA, &c->format, &y);
    if (l->ntop > 1) FIRE_OUT_AS(l->top[1], FIRE_DATA, &m, &mask);
    DISPATCH(run_forward, l, &c->format, l, (const T *)x, (T *)y, mask)
    return FIRE_OK;
}

fire_status_t fire_pooling_cuda_backward(fire_layer_t *l)
{
    pooling_cuda_t       *c = (pooling_cuda_t *)l->kernel_state;
    const fire_pooling_t *p = (const fire_pooling_t *)l->state;
    void                 *dy, *dx;

    if (!l->propagate_down[0]) return FIRE_OK;
    if (p->method == FIRE_POOL(STOCHASTIC) && l->phase != CAFFE__PHASE__TRAIN)
        return FIRE_FAIL(FIRE_ERR_UNSUPPORTED,
                         "STOCHASTIC pooling has a gradient in phase TRAIN only");
    FIRE_IN_AS(l->top[0], FIRE_DIFF, &c->format, &dy);
    FIRE_OUT_AS(l->bottom[0], FIRE_DIFF, &c->format, &dx);
    DISPATCH(run_backward, l, &c->format, l, (const T *)dy, (T *)dx)
    return FIRE_OK;
}
