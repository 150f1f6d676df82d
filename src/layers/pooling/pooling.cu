/* pooling.cu - Pooling on the GPU, forward. A thread makes V neighbouring channels of
 * one output per turn. For backward MAX and STOCHASTIC keep which tap of its window
 * each output came from, in a byte where windows are small enough. Templates:
 * pooling_cuda.h. */
#include <float.h>

#include "base/random/philox.h"
#include "layers/pooling/pooling_cuda.h"

/* The index of a window that has no element. */
template <typename I> __device__ static I nothing()
{
    return (I)-1;
}

/* ---- MAX and AVE ---- */

/* The largest values of V channels so far, and their taps. */
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

/* A window of K x K: loads all of it before it compares the first, so that the
 * latencies of the loads overlap. */
template <int K, bool LAST, int V, typename T, typename I>
__device__ static void look_at_all(const fire_pool_shape_t &s, const fire_pool_place &p,
                                   const fire_pool_window &b, const T *x,
                                   best<V, I> *most)
{
    fire_raw<V, T> v[K * K];
    bool           inside[K * K];

#pragma unroll
    for (int i = 0; i < K * K; i++) {
        int h = b.start[0] + i / K, w = b.start[1] + i % K;

        inside[i] = h >= 0 && h < s.in[0] && w >= 0 && w < s.in[1];
        if (inside[i])
            v[i] =
                fire_raw_load<V>(x, fire_pool_address<LAST>(p, s.channels, s.in, h, w));
    }
#pragma unroll
    for (int i = 0; i < K * K; i++)
        if (inside[i]) most->look(v[i], (I)i);
}

/* K: windows are K x K; 0: any size. mask: the second top, or NULL */
template <typename T, bool LAST, int V, typename I, int K>
__global__ static void max_forward(uint64_t total, fire_pool_shape_t s, const T *x,
                                   T *y, I *index, float *mask)
{
    FIRE_GRID_STRIDE (i, (int64_t)total) {
        fire_pool_place  p  = fire_pool_place_of<LAST, V>((uint64_t)i, s, s.by_out);
        fire_pool_window b  = fire_pool_window_at(s, p.h, p.w);
        int64_t          to = fire_pool_address<LAST>(p, s.channels, s.out, p.h, p.w);
        best<V, I>       most;

        if constexpr (K > 0) look_at_all<K, LAST>(s, p, b, x, &most);
        for (int h = b.begin[0]; K == 0 && h < b.end[0]; h++)
            for (int w = b.begin[1]; w < b.end[1]; w++)
                most.look(fire_raw_load<V>(
                              x, fire_pool_address<LAST>(p, s.channels, s.in, h, w)),
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
__global__ static void ave_forward(uint64_t total, fire_pool_shape_t s, const T *x,
                                   T *y)
{
    FIRE_GRID_STRIDE (i, (int64_t)total) {
        fire_pool_place  p   = fire_pool_place_of<LAST, V>((uint64_t)i, s, s.by_out);
        fire_pool_window b   = fire_pool_window_at(s, p.h, p.w);
        fire_lanes<V>    sum = {};

        for (int h = b.begin[0]; h < b.end[0]; h++)
            for (int w = b.begin[1]; w < b.end[1]; w++) {
                fire_lanes<V> v = fire_lanes_load<V>(
                    x, fire_pool_address<LAST>(p, s.channels, s.in, h, w));

#pragma unroll
                for (int k = 0; k < V; k++)
                    sum.v[k] += v.v[k];
            }
#pragma unroll
        for (int k = 0; k < V; k++)
            sum.v[k] = b.area != 0 ? sum.v[k] / (float)b.area : 0.0f;
        fire_lanes_store<V>(y, fire_pool_address<LAST>(p, s.channels, s.out, p.h, p.w),
                            sum);
    }
}

/* ---- STOCHASTIC ---- */

/* Which random numbers belong to image n: those of its row in the global batch. */
typedef struct draws {
    uint64_t        base;        /* of the key: seed and layer */
    const uint64_t *moment;      /* iteration, in GPU memory */
    int64_t         first, step; /* image n is row first + n * step */
} draws_t;

/* Training: see fire_pool_draw(). */
template <typename T, bool LAST, typename I>
__global__ static void draw_forward(uint64_t total, fire_pool_shape_t s, draws_t d,
                                    const T *x, T *y, I *index)
{
    FIRE_GRID_STRIDE (i, (int64_t)total) {
        fire_pool_place  p  = fire_pool_place_of<LAST, 1>((uint64_t)i, s, s.by_out);
        fire_pool_window b  = fire_pool_window_at(s, p.h, p.w);
        int64_t          to = fire_pool_address<LAST>(p, s.channels, s.out, p.h, p.w);
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
                sum += (float)x[fire_pool_address<LAST>(p, s.channels, s.in, h, w)];
        limit = (float)(four[number % 4] >> 8) * 0x1p-24f * sum;
        sum   = 0;
        for (int h = b.begin[0]; h < b.end[0] && !found; h++)
            for (int w = b.begin[1]; w < b.end[1] && !found; w++) {
                value = (float)x[fire_pool_address<LAST>(p, s.channels, s.in, h, w)];
                from  = (I)((h - b.start[0]) * s.kernel[1] + w - b.start[1]);
                sum += value;
                found = sum >= limit;
            }
        y[to]     = (T)value;
        index[to] = from;
    }
}

/* Testing: see fire_pool_expect(). */
template <typename T, bool LAST>
__global__ static void expect_forward(uint64_t total, fire_pool_shape_t s, const T *x,
                                      T *y)
{
    FIRE_GRID_STRIDE (i, (int64_t)total) {
        fire_pool_place  p   = fire_pool_place_of<LAST, 1>((uint64_t)i, s, s.by_out);
        fire_pool_window b   = fire_pool_window_at(s, p.h, p.w);
        float            sum = FLT_MIN, squares = 0;

        for (int h = b.begin[0]; h < b.end[0]; h++)
            for (int w = b.begin[1]; w < b.end[1]; w++) {
                float v = (float)x[fire_pool_address<LAST>(p, s.channels, s.in, h, w)];

                sum += v;
                squares += v * v;
            }
        y[fire_pool_address<LAST>(p, s.channels, s.out, p.h, p.w)] = (T)(squares / sum);
    }
}

/* ---- the layer ---- */

static const char *pooling_cuda_declines(const fire_layer_t *l)
{
    return ((const fire_pooling_t *)l->state)->nd.axes != 2
               ? "only for two spatial axes"
               : NULL;
}

static fire_status_t pooling_cuda_prepare(fire_layer_t *l)
{
    fire_pooling_cuda_t *c = (fire_pooling_cuda_t *)l->kernel_state;

    if (c == NULL) FIRE_TRY(FIRE_NEW(&c, 1));
    l->kernel_state = c;
    return FIRE_OK;
}

static void pooling_cuda_release(fire_layer_t *l)
{
    fire_pooling_cuda_t *c = (fire_pooling_cuda_t *)l->kernel_state;

    if (c == NULL) return;
    fire_gpu_memory_free(&c->index);
    fire_free(c);
    l->kernel_state = NULL;
}

static draws_t draws_of(const fire_layer_t *l)
{
    int64_t images = l->top[0]->dim[0], first = fire_moment_row(l->moment, images, 0);
    draws_t d = {
        fire_rng_base(l->moment->seed, FIRE_RNG_POOL, fire_rng_name(l->param->name)),
        fire_cuda_step_state(l->ctx->stream)->step, first, 1};

    if (images > 1) d.step = fire_moment_row(l->moment, images, 1) - first;
    return d;
}

template <typename T, bool LAST, int V, typename I>
static fire_status_t run_forward(fire_layer_t *l, const T *x, T *y, float *mask)
{
    const fire_pooling_t *p = (const fire_pooling_t *)l->state;
    fire_stream_t        *s = l->ctx->stream;
    fire_pool_shape_t     g = fire_pool_shape_of(l);
    I       *index          = (I *)((fire_pooling_cuda_t *)l->kernel_state)->index.ptr;
    uint64_t n              = (uint64_t)fire_blob_count(l->top[0]);

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

static fire_status_t pooling_cuda_forward(fire_layer_t *l)
{
    fire_pooling_cuda_t *c    = (fire_pooling_cuda_t *)l->kernel_state;
    fire_format_t        m    = FIRE_FORMAT_PLAIN(FIRE_GPU);
    size_t               n    = (size_t)fire_blob_count(l->top[0]);
    float               *mask = NULL;
    void                *x, *y;

    c->format = fire_gpu_format(l, l->bottom[0]);
    m.layout  = c->format.layout;
    FIRE_TRY(fire_gpu_memory_fit(
        &c->index, n * (fire_pool_is_small(fire_pool_shape_of(l)) ? 1 : 4)));
    FIRE_IN_AS(l->bottom[0], FIRE_DATA, &c->format, &x);
    FIRE_OUT_AS(l->top[0], FIRE_DATA, &c->format, &y);
    if (l->ntop > 1) FIRE_OUT_AS(l->top[1], FIRE_DATA, &m, &mask);
    FIRE_POOL_DISPATCH(run_forward, l, &c->format, l, (const T *)x, (T *)y, mask)
    return FIRE_OK;
}

extern "C" const fire_kernel_t fire_pooling_cuda = {"cuda",
                                                    FIRE_GPU,
                                                    pooling_cuda_forward,
                                                    fire_pooling_cuda_backward,
                                                    pooling_cuda_declines,
                                                    pooling_cuda_prepare,
                                                    pooling_cuda_release,
                                                    &fire_fusion_reads_nothing};
