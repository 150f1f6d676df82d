#include "layers/cuda/norm.h"

#include "layers/cuda/channel.h"

/* ---- statistics ---- */

/* Sums of x - origin and its square; the origin, the channel's first element, keeps the
 * squares from drowning the variance in a large mean. */
template <typename T> struct moments {
    const T *x;
    int64_t  inner;

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
    __device__ void add(const constants<V> &k, int64_t at, fire_lanes<V> *sum) const
    {
        fire_lanes<V> v = fire_lanes_load<V>(x, at);

#pragma unroll
        for (int i = 0; i < V; i++) {
            float d = v.v[i] - k.origin.v[i];

            sum[0].v[i] += d;
            sum[1].v[i] += d * d;
        }
    }
};

template <typename T>
__global__ static void finish_moments(fire_gpu_norm_t n, int parts,
                                      const float *partial, const T *x, float eps,
                                      fire_gpu_statistics_t into)
{
    int64_t m        = n.view.outer * n.view.inner, c;
    float   unbiased = m > 1 ? (float)m / (float)(m - 1) : 1.0f, total[2];

    if (!fire_channel_totals<2>(partial, parts, n.view.channels, total, &c)) return;
    double first    = (double)total[0] / (double)m;
    double spread   = (double)total[1] / (double)m - first * first;
    float  mean     = (float)((double)(float)x[c * n.view.inner] + first);
    float  variance = spread > 0 ? (float)spread : 0.0f;

    n.mean[c]        = mean;
    n.inverse[c]     = 1.0f / sqrtf(variance + eps);
    into.mean[c]     = mean + into.decay * into.mean[c];
    into.variance[c] = unbiased * variance + into.decay * into.variance[c];
    if (c == 0) *into.weight = *into.weight * into.decay + 1.0f;
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
    float scale = *from.weight == 0.0f ? 0.0f : 1.0f / *from.weight;

    FIRE_GRID_STRIDE (c, n.view.channels) {
        n.mean[c]    = scale * from.mean[c];
        n.inverse[c] = 1.0f / sqrtf(scale * from.variance[c] + eps);
    }
}

fire_status_t fire_gpu_norm_recall(fire_stream_t *s, const fire_gpu_norm_t *n,
                                   float eps, const fire_gpu_statistics_t *from)
{
    return FIRE_LAUNCH(s, n->view.channels, recall, *n, eps, *from);
}

/* ---- the layer itself ---- */

/* What a thread keeps of its channels; few, as registers are. */
template <int V> struct coefficients {
    fire_lanes<V> mean, scale, shift; /* z = (x - mean) * scale + shift */

    __device__ coefficients(const fire_gpu_norm_t &n, int64_t c)
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

template <typename T> struct normalise {
    fire_gpu_norm_t n;
    const T        *x;
    T              *y;

    template <int V> struct constants : coefficients<V> {
        __device__ constants(const normalise &f, int64_t c) : coefficients<V>(f.n, c)
        {
        }
    };

    template <int V> __device__ void apply(const constants<V> &k, int64_t at) const
    {
        fire_lanes<V> v = fire_lanes_load<V>(x, at);

#pragma unroll
        for (int i = 0; i < V; i++) {
            float z = (v.v[i] - k.mean.v[i]) * k.scale.v[i] + k.shift.v[i];

            v.v[i] = n.relu && !(z > 0) ? n.slope * z : z;
        }
        fire_lanes_store<V>(y, at, v);
    }
};

template <typename T>
static fire_status_t forward(fire_stream_t *s, const fire_gpu_norm_t *n, const T *x,
                             T *y)
{
    constexpr int       V = fire_vector<T>::N;
    fire_channel_plan_t p = fire_channel_plan(n->view, V, s->multiprocessors);

    return fire_channel_each<V>(s, p, normalise<T>{*n, x, y});
}

fire_status_t fire_gpu_norm_forward(fire_stream_t *s, const fire_gpu_norm_t *n,
                                    const void *x, void *y)
{
    FIRE_WITH_TYPE(n->dtype, T, return forward(s, n, (const T *)x, (T *)y))
    return FIRE_OK;
}

/* ---- gradients ---- */

/* Distance from the mean, and the gradient before the activation. */
template <int V>
__device__ static inline void look_back(const fire_gpu_norm_t &n,
                                        const coefficients<V> &k, int i, float x,
                                        float dy, float *far, float *g)
{
    *far = x - k.mean.v[i];
    *g   = n.relu && !(*far * k.scale.v[i] + k.shift.v[i] > 0) ? n.slope * dy : dy;
}

template <typename T> struct gradient_sums {
    fire_gpu_norm_t n;
    const T        *x, *dy;

    template <int V> struct constants : coefficients<V> {
        __device__ constants(const gradient_sums &f, int64_t c)
            : coefficients<V>(f.n, c)
        {
        }
    };

    template <int V>
    __device__ void add(const constants<V> &k, int64_t at, fire_lanes<V> *sum) const
    {
        fire_lanes<V> v = fire_lanes_load<V>(x, at), d = fire_lanes_load<V>(dy, at);
        float         far, g;

#pragma unroll
        for (int i = 0; i < V; i++) {
            look_back(n, k, i, v.v[i], d.v[i], &far, &g);
            sum[0].v[i] += g * far;
            sum[1].v[i] += g;
        }
    }
};

__global__ static void finish_sums(fire_gpu_norm_t n, int parts, const float *partial,
                                   bool add, float *dgain, float *dshift)
{
    int64_t channels = n.view.channels, c;
    float   total[2];

    if (!fire_channel_totals<2>(partial, parts, channels, total, &c)) return;
    if (n.inverse != NULL) total[0] *= n.inverse[c];
    n.sums[c]            = total[0];
    n.sums[channels + c] = total[1];
    if (dgain != NULL) dgain[c] = add ? dgain[c] + total[0] : total[0];
    if (dshift != NULL) dshift[c] = add ? dshift[c] + total[1] : total[1];
}

template <typename T> struct input_gradient {
    fire_gpu_norm_t n;
    const T        *x, *dy;
    T              *dx;
    float           share; /* 1 / elements of a channel */

    template <int V> struct constants : coefficients<V> {
        fire_lanes<V> a, b; /* dx = (g - b - far * a) * scale */
        __device__    constants(const input_gradient &f, int64_t c)
            : coefficients<V>(f.n, c)
        {
#pragma unroll
            for (int i = 0; i < V; i++) {
                a.v[i] = f.n.measured ? f.n.sums[c + i] * f.share * f.n.inverse[c + i]
                                      : 0.0f;
                b.v[i] =
                    f.n.measured ? f.n.sums[f.n.view.channels + c + i] * f.share : 0.0f;
            }
        }
    };

    template <int V> __device__ void apply(const constants<V> &k, int64_t at) const
    {
        fire_lanes<V> v = fire_lanes_load<V>(x, at), d = fire_lanes_load<V>(dy, at);
        float         far, g;

#pragma unroll
        for (int i = 0; i < V; i++) {
            look_back(n, k, i, v.v[i], d.v[i], &far, &g);
            v.v[i] = (g - k.b.v[i] - far * k.a.v[i]) * k.scale.v[i];
        }
        fire_lanes_store<V>(dx, at, v);
    }
};

template <typename T>
static fire_status_t backward(fire_stream_t *s, const fire_gpu_norm_t *n, const T *x,
                              const T *dy, bool add, float *dgain, float *dshift, T *dx)
{
    constexpr int       V     = fire_vector<T>::N;
    fire_channel_plan_t p     = fire_channel_plan(n->view, V, s->multiprocessors);
    float               share = 1.0f / (float)(n->view.outer * n->view.inner), *partial;

    if (n->measured || dgain != NULL || dshift != NULL) {
        FIRE_TRY(
            (fire_channel_sums<V, 2>(s, p, gradient_sums<T>{*n, x, dy}, &partial)));
        FIRE_TRY(FIRE_LAUNCH_TOTALS(s, n->view.channels, finish_sums, *n, p.parts,
                                    partial, add, dgain, dshift));
    }
    if (dx == NULL) return FIRE_OK;
    return fire_channel_each<V>(s, p, input_gradient<T>{*n, x, dy, dx, share});
}

fire_status_t fire_gpu_norm_backward(fire_stream_t *s, const fire_gpu_norm_t *n,
                                     const void *x, const void *dy, bool add,
                                     float *dgain, float *dshift, void *dx)
{
    FIRE_WITH_TYPE(
        n->dtype, T,
        return backward(s, n, (const T *)x, (const T *)dy, add, dgain, dshift, (T *)dx))
    return FIRE_OK;
}
