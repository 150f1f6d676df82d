/* pooling_back.cu - Pooling on the GPU, backward. A thread makes V neighbouring
 * channels of one element of dx per turn: it adds the gradients of all windows that
 * hold the element, in order. So there are no atomic additions, and the same bits on
 * every run. */
#include "layers/pooling/pooling_cuda.h"

/* Along one axis, the windows that hold input place `at`: first ... end - 1. */
__device__ static void windows_of(const fire_pool_shape_t &s, int axis, int at,
                                  int *first, int *end)
{
    int far = at + s.pad[axis];

    *first =
        far < s.kernel[axis]
            ? 0
            : (int)fire_divide((uint64_t)(far - s.kernel[axis]), s.by_stride[axis]) + 1;
    *end = min((int)fire_divide((uint64_t)far, s.by_stride[axis]) + 1, s.out[axis]);
}

/* Add what window (h, w) gives to input element p. at: offset of the window's dy and
 * index. I: type of the index; void * stands for AVE, which has none. */
template <int V, typename T, typename I>
__device__ static void receive(const fire_pool_shape_t &s, const fire_pool_place &p,
                               int h, int w, int64_t at, const T *dy, const I *index,
                               fire_lanes<V> *sum)
{
    fire_pool_window b = fire_pool_window_at(s, h, w);
    fire_raw<V, T>   d = fire_raw_load<V>(dy, at);

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

/* N: at most N x N windows hold an element; 0: any number. */
template <typename T, bool LAST, int V, typename I, int N>
__global__ static void backward(uint64_t total, fire_pool_shape_t s, const T *dy,
                                const I *index, T *dx)
{
    FIRE_GRID_STRIDE (i, (int64_t)total) {
        fire_pool_place p   = fire_pool_place_of<LAST, V>((uint64_t)i, s, s.by_in);
        fire_lanes<V>   sum = {};
        int             first[2], end[2];

        windows_of(s, 0, p.h, &first[0], &end[0]);
        windows_of(s, 1, p.w, &first[1], &end[1]);
#pragma unroll
        for (int k = 0; k < N * N; k++) {
            int h = first[0] + k / (N > 0 ? N : 1), w = first[1] + k % (N > 0 ? N : 1);

            if (h < end[0] && w < end[1])
                receive<V>(s, p, h, w,
                           fire_pool_address<LAST>(p, s.channels, s.out, h, w), dy,
                           index, &sum);
        }
        for (int h = first[0]; N == 0 && h < end[0]; h++)
            for (int w = first[1]; w < end[1]; w++)
                receive<V>(s, p, h, w,
                           fire_pool_address<LAST>(p, s.channels, s.out, h, w), dy,
                           index, &sum);
        fire_lanes_store<V>(dx, fire_pool_address<LAST>(p, s.channels, s.in, p.h, p.w),
                            sum);
    }
}

/* Windows that tile the image: a thread takes one window and writes all of its dx. */
template <typename T, bool LAST, int V, typename I>
__global__ static void backward_apart(uint64_t total, fire_pool_shape_t s, const T *dy,
                                      const I *index, T *dx)
{
    FIRE_GRID_STRIDE (i, (int64_t)total) {
        fire_pool_place p    = fire_pool_place_of<LAST, V>((uint64_t)i, s, s.by_out);
        int64_t         at   = fire_pool_address<LAST>(p, s.channels, s.out, p.h, p.w);
        fire_lanes<V>   d    = fire_lanes_load<V>(dy, at), out;
        fire_raw<V, I>  from = fire_raw_load<V>(index, at);
        int             here = 0;

        for (int h = p.h * s.kernel[0]; h < (p.h + 1) * s.kernel[0]; h++)
            for (int w = p.w * s.kernel[1]; w < (p.w + 1) * s.kernel[1]; w++, here++) {
#pragma unroll
                for (int k = 0; k < V; k++)
                    out.v[k] = from.v[k] == (I)here ? d.v[k] : 0.0f;
                fire_lanes_store<V>(
                    dx, fire_pool_address<LAST>(p, s.channels, s.in, h, w), out);
            }
    }
}

static bool is_apart(const fire_pool_shape_t &s)
{
    for (int i = 0; i < 2; i++)
        if (s.kernel[i] != s.stride[i] || s.pad[i] != 0 ||
            s.in[i] != s.out[i] * s.stride[i])
            return false;
    return true;
}

/* The most windows along one axis that hold an element. */
static int overlap(const fire_pool_shape_t &s)
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
    const I *index = (const I *)((fire_pooling_cuda_t *)l->kernel_state)->index.ptr;
    fire_pool_shape_t g = fire_pool_shape_of(l);
    uint64_t          n = (uint64_t)fire_blob_count(l->bottom[0]) / V;

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

fire_status_t fire_pooling_cuda_backward(fire_layer_t *l)
{
    fire_pooling_cuda_t  *c = (fire_pooling_cuda_t *)l->kernel_state;
    const fire_pooling_t *p = (const fire_pooling_t *)l->state;
    void                 *dy, *dx;

    if (!l->propagate_down[0]) return FIRE_OK;
    if (p->method == FIRE_POOL(STOCHASTIC) && l->phase != CAFFE__PHASE__TRAIN)
        return FIRE_FAIL(FIRE_ERR_UNSUPPORTED,
                         "STOCHASTIC pooling has a gradient in phase TRAIN only");
    FIRE_IN_AS(l->top[0], FIRE_DIFF, &c->format, &dy);
    FIRE_OUT_AS(l->bottom[0], FIRE_DIFF, &c->format, &dx);
    FIRE_POOL_DISPATCH(run_backward, l, &c->format, l, (const T *)dy, (T *)dx)
    return FIRE_OK;
}
