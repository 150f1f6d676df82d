/* channel_sum.cu - the kernels of channel_sum.h, as functors for the templates of
 * channel.h, which say how threads share the work. */
#include "device/cuda/kernel/channel_sum.h"

#include "device/cuda/kernel/channel.h"

/* What is loaded from one array. */
template <int V, typename T> struct one_input {
    fire_raw<V, T> x;
};

/* Sums x. */
template <typename T> struct values {
    enum { BATCH = 8 };
    const T *x;

    template <int V> using inputs = one_input<V, T>;
    template <int V> __device__ inputs<V> load(int64_t at) const
    {
        return {fire_raw_load<V>(x, at)};
    }

    template <int V> struct constants {
        __device__ constants(const values &, int64_t)
        {
        }
    };

    template <int V>
    __device__ void add(const constants<V> &, const inputs<V> &in, int64_t,
                        fire_lanes<V> *sum) const
    {
#pragma unroll
        for (int k = 0; k < V; k++)
            sum[0].v[k] += (float)in.x.v[k];
    }
};

/* sum[c] = (add ? sum[c] : 0) + the channel's partial sums; see
 * fire_channel_totals(). */
__global__ static void finish(int64_t channels, int parts, const float *partial,
                              bool add, float *sum)
{
    float   total;
    int64_t c;

    if (fire_channel_totals<1>(partial, parts, channels, &total, &c))
        sum[c] = add ? sum[c] + total : total;
}

/* Sum what f adds to sum (channels); NULL: only run f, for what it stores. */
template <typename T, typename F>
static fire_status_t sum_up(fire_stream_t *s, fire_gpu_view_t view, F f, bool add,
                            float *sum)
{
    constexpr int       V = fire_vector<T>::N;
    fire_channel_plan_t p = fire_channel_plan(view, V, s->multiprocessors);
    float              *partial;

    p.sum = sum;
    p.add = add;
    FIRE_TRY((fire_channel_sums<V, 1>(s, p, f, &partial)));
    if (sum == NULL || p.parts == 1) return FIRE_OK;
    return FIRE_LAUNCH_TOTALS(s, view.channels, finish, view.channels, p.parts, partial,
                              add, sum);
}

fire_status_t fire_gpu_channel_sum(fire_stream_t *s, fire_gpu_view_t view,
                                   fire_dtype_t dtype, const void *x, bool add,
                                   float *sum)
{
    FIRE_WITH_TYPE(dtype, T,
                   return sum_up<T>(s, view, values<T>{(const T *)x}, add, sum))
    return FIRE_OK;
}

/* y = x + b[channel], with a ReLU or not. */
template <typename T, bool RELU> struct add_value {
    enum { BATCH = 4, BLOCKS = 4 };
    const T     *x;
    const float *b;
    T           *y;

    template <int V> using inputs = one_input<V, T>;
    template <int V> __device__ inputs<V> load(int64_t at) const
    {
        return {fire_raw_load<V>(x, at)};
    }

    template <int V> struct constants {
        fire_lanes<V> b;
        __device__    constants(const add_value &f, int64_t c) : b()
        {
            if (f.b != NULL) b = fire_lanes_load_plain<V>(f.b, c);
        }
    };

    template <int V>
    __device__ void apply(const constants<V> &k, const inputs<V> &in, int64_t at) const
    {
        fire_lanes<V> v;

#pragma unroll
        for (int i = 0; i < V; i++) {
            v.v[i] = (float)in.x.v[i] + k.b.v[i];
            if (RELU && !(v.v[i] > 0)) v.v[i] = 0;
        }
        fire_lanes_store<V>(y, at, v);
    }
};

template <bool RELU, typename T>
static fire_status_t add_to(fire_stream_t *s, fire_gpu_view_t view, const T *x,
                            const float *b, T *y)
{
    constexpr int       V = fire_vector<T>::N;
    fire_channel_plan_t p = fire_channel_plan(view, V, s->multiprocessors);

    return fire_channel_each<V>(s, p, add_value<T, RELU>{x, b, y});
}

fire_status_t fire_gpu_channel_add(fire_stream_t *s, fire_gpu_view_t view,
                                   fire_dtype_t dtype, const void *x, const float *b,
                                   void *y)
{
    FIRE_WITH_TYPE(dtype, T, return add_to<false>(s, view, (const T *)x, b, (T *)y))
    return FIRE_OK;
}

fire_status_t fire_gpu_channel_relu(fire_stream_t *s, fire_gpu_view_t view,
                                    fire_dtype_t dtype, const void *x, const float *b,
                                    void *y)
{
    FIRE_WITH_TYPE(dtype, T, return add_to<true>(s, view, (const T *)x, b, (T *)y))
    return FIRE_OK;
}

/* dy = y > 0 ? dy : 0, and sums it. */
template <typename T> struct masked_values {
    enum { BATCH = 4 };
    const T *y;
    T       *dy;

    template <int V> struct inputs {
        fire_raw<V, T> y, dy;
    };
    template <int V> __device__ inputs<V> load(int64_t at) const
    {
        return {fire_raw_load<V>(y, at), fire_raw_load<V>(dy, at)};
    }

    template <int V> struct constants {
        __device__ constants(const masked_values &, int64_t)
        {
        }
    };

    template <int V>
    __device__ void add(const constants<V> &, const inputs<V> &in, int64_t at,
                        fire_lanes<V> *sum) const
    {
        fire_lanes<V> d;

#pragma unroll
        for (int k = 0; k < V; k++) {
            d.v[k] = (float)in.y.v[k] > 0 ? (float)in.dy.v[k] : 0.0f;
            sum[0].v[k] += d.v[k];
        }
        fire_lanes_store<V>(dy, at, d);
    }
};

fire_status_t fire_gpu_channel_relu_back(fire_stream_t *s, fire_gpu_view_t view,
                                         fire_dtype_t dtype, const void *y, void *dy,
                                         bool add, float *sum)
{
    FIRE_WITH_TYPE(
        dtype, T,
        return sum_up<T>(s, view, masked_values<T>{(const T *)y, (T *)dy}, add, sum))
    return FIRE_OK;
}
