/* norm.cu - the statistics and the forward pass of norm.h, as functors for the
 * templates of device/cuda/kernel/channel.h, which say how threads share the work. */
#include "layers/norm/norm.h"

#include "layers/norm/norm_channel.h"

/* ---- statistics ---- */

/* Sums x - origin and its square per channel. The origin is the channel's first
 * element: it is near the mean, so that the variance is not the difference of two large
 * numbers. */
template <typename T> struct moments {
    enum { BATCH = 8 };
    const T *x;
    int64_t  inner;

    template <int V> struct inputs {
        fire_raw<V, T> x;
    };
    template <int V> __device__ inputs<V> load(int64_t at) const
    {
        return {fire_raw_load<V>(x, at)};
    }

    template <int V> struct constants {
        fire_lanes<V> origin;
        __device__    constants(const moments &f, int64_t c)
        {
#pragma unroll
            for (int k = 0; k < V; k++)
                origin.v[k] = (float)f.x[(c + k) * f.inner];
        }
    };

    template <int V>
    __device__ void add(const constants<V> &k, const inputs<V> &in, int64_t,
                        fire_lanes<V> *sum) const
    {
#pragma unroll
        for (int i = 0; i < V; i++) {
            float d = (float)in.x.v[i] - k.origin.v[i];

            sum[0].v[i] += d;
            sum[1].v[i] += d * d;
        }
    }
};

/* Mean, inverse and running statistics of a channel from its partial sums. */
template <typename T>
__global__ static void finish_moments(fire_gpu_norm_t n, int parts,
                                      const float *partial, const T *x, float eps,
                                      fire_gpu_statistics_t into)
{
    int64_t m        = n.view.outer * n.view.inner, c;
    float   unbiased = into.unbiased && m > 1 ? (float)m / (float)(m - 1) : 1.0f;
    float   total[2];

    if (!fire_channel_totals<2>(partial, parts, n.view.channels, total, &c)) return;
    double first    = (double)total[0] / (double)m;
    double spread   = (double)total[1] / (double)m - first * first;
    float  mean     = (float)((double)(float)x[c * n.view.inner] + first);
    float  variance = spread > 0 ? (float)spread : 0.0f;

    n.mean[c]    = mean;
    n.inverse[c] = 1.0f / sqrtf(variance + eps);
    if (into.mean == NULL) return;
    into.mean[c]     = into.share * mean + into.decay * into.mean[c];
    into.variance[c] = into.share * unbiased * variance + into.decay * into.variance[c];
    if (c == 0 && into.weight != NULL) *into.weight = *into.weight * into.decay + 1.0f;
}

template <typename T>
static fire_status_t measure(fire_stream_t *s, const fire_gpu_norm_t *n, float eps,
                             const T *x, const fire_gpu_statistics_t *into)
{
    constexpr int       V = fire_vector<T>::N;
    fire_channel_plan_t p = fire_channel_plan(n->view, V, s->multiprocessors);
    float              *partial;

    FIRE_TRY((fire_channel_sums<V, 2>(s, p, moments<T>{x, n->view.inner}, &partial)));
    return FIRE_LAUNCH_TOTALS(s, n->view.channels, finish_moments<T>, *n, p.parts,
                              partial, x, eps, *into);
}

fire_status_t fire_gpu_norm_measure(fire_stream_t *s, const fire_gpu_norm_t *n,
                                    float eps, const void *x,
                                    const fire_gpu_statistics_t *into)
{
    FIRE_WITH_TYPE(n->dtype, T, return measure(s, n, eps, (const T *)x, into))
    return FIRE_OK;
}

__global__ static void recall(fire_gpu_norm_t n, float eps, fire_gpu_statistics_t from)
{
    float scale = 1.0f;

    if (from.weight != NULL) scale = *from.weight == 0.0f ? 0.0f : 1.0f / *from.weight;
    FIRE_GRID_STRIDE (c, n.view.channels) {
        float variance = from.mean != NULL ? scale * from.variance[c] : 1.0f;

        n.mean[c]    = from.mean != NULL ? scale * from.mean[c] : 0.0f;
        n.inverse[c] = 1.0f / sqrtf(variance + eps);
    }
}

fire_status_t fire_gpu_norm_recall(fire_stream_t *s, const fire_gpu_norm_t *n,
                                   float eps, const fire_gpu_statistics_t *from)
{
    return FIRE_LAUNCH(s, n->view.channels, recall, *n, eps, *from);
}

/* ---- forward ---- */

/* What is added before act: nothing, the array `other`, or `other` normalised. */
enum other { NOTHING, PLAIN, NORMED };

/* EVEN_ONLY: y is FIRE_EVEN; only those pixels of x and other are read. */
template <typename T, int OTHER, bool EVEN_ONLY> struct normalise {
    enum { BATCH = 4, BLOCKS = OTHER == NOTHING ? 3 : 2 };
    fire_gpu_norm_t n, by;
    fire_even_t     even;
    const T        *x, *other;
    T              *y;

    __device__ int64_t place(int64_t at) const
    {
        return EVEN_ONLY ? fire_even_up(even, at) : at;
    }

    template <int V> struct inputs {
        fire_raw<V, T> x, other;
    };
    template <int V> __device__ inputs<V> load(int64_t at) const
    {
        int64_t   from = place(at);
        inputs<V> in;

        in.x = fire_raw_load<V>(x, from);
        if (OTHER != NOTHING) in.other = fire_raw_load<V>(other, from);
        return in;
    }

    template <int V> struct constants {
        fire_norm_channel<V> n, by;
        __device__           constants(const normalise &f, int64_t c)
            : n(f.n, c), by(OTHER == NORMED ? f.by : f.n, c)
        {
        }
    };

    template <int V>
    __device__ void apply(const constants<V> &k, const inputs<V> &in, int64_t at) const
    {
        unsigned      positive = 0;
        fire_lanes<V> v;

#pragma unroll
        for (int i = 0; i < V; i++) {
            float z = fire_norm_value(k.n, i, (float)in.x.v[i]);

            if (OTHER == PLAIN) z += (float)in.other.v[i];
            if (OTHER == NORMED) z += fire_norm_value(k.by, i, (float)in.other.v[i]);
            positive |= (unsigned)(z > 0) << i;
            v.v[i] = n.relu && !(z > 0) ? n.slope * z : z;
        }
        fire_lanes_store<V>(y, at, v);
        if (OTHER != NOTHING && n.relu) n.mask[place(at) / V] = (uint8_t)positive;
    }
};

template <typename T, int OTHER>
static fire_status_t forward(fire_stream_t *s, const fire_gpu_norm_t *n, const T *x,
                             const T *other, const fire_gpu_norm_t *by, T *y)
{
    constexpr int   V    = fire_vector<T>::N;
    fire_gpu_view_t view = n->even_only ? fire_norm_even_view(*n) : n->view;
    fire_even_t     even = fire_norm_even(*n);

    fire_channel_plan_t p = fire_channel_plan(view, V, s->multiprocessors);

    if (n->even_only)
        return fire_channel_each<V>(
            s, p, normalise<T, OTHER, true>{*n, *by, even, x, other, y});
    return fire_channel_each<V>(s, p,
                                normalise<T, OTHER, false>{*n, *by, even, x, other, y});
}

template <typename T>
static fire_status_t forward_of(fire_stream_t *s, const fire_gpu_norm_t *n, const T *x,
                                const T *other, const fire_gpu_norm_t *by, T *y)
{
    if (other == NULL) return forward<T, NOTHING>(s, n, x, other, n, y);
    if (by == NULL) return forward<T, PLAIN>(s, n, x, other, n, y);
    return forward<T, NORMED>(s, n, x, other, by, y);
}

fire_status_t fire_gpu_norm_forward(fire_stream_t *s, const fire_gpu_norm_t *n,
                                    const void *x, const void *other,
                                    const fire_gpu_norm_t *by, void *y)
{
    FIRE_WITH_TYPE(n->dtype, T,
                   return forward_of(s, n, (const T *)x, (const T *)other, by, (T *)y))
    return FIRE_OK;
}
