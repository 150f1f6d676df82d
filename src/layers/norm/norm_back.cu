/* norm_back.cu - the backward pass of norm.h: one pass over memory for two sums per
 * channel,
 *
 *     sum 0 = sum of g (x - mean) * inverse = dgain,   sum 1 = sum of g = dshift
 *
 * where g is the gradient before act, and one for
 *
 *     dx = (g - sum 1 / m - (x - mean) * inverse * sum 0 / m) * inverse * gain
 *
 * over m elements; the sums are left out where mean and inverse are not the batch's. */
#include "layers/norm/norm_channel.h"

/* ---- sums ---- */

/* Sums for a norm without `other`: g is dy where its own ReLU lets it pass, computed
 * again from x. */
template <typename T> struct own_sums {
    enum { BATCH = 4 };
    fire_gpu_norm_t n;
    const T        *x, *dy;

    template <int V> struct inputs {
        fire_raw<V, T> x, dy;
    };
    template <int V> __device__ inputs<V> load(int64_t at) const
    {
        return {fire_raw_load<V>(x, at), fire_raw_load<V>(dy, at)};
    }

    template <int V> struct constants : fire_norm_channel<V> {
        __device__ constants(const own_sums &f, int64_t c)
            : fire_norm_channel<V>(f.n, c)
        {
        }
    };

    template <int V>
    __device__ void add(const constants<V> &k, const inputs<V> &in, int64_t,
                        fire_lanes<V> *sum) const
    {
#pragma unroll
        for (int i = 0; i < V; i++) {
            float x_ = (float)in.x.v[i], g = (float)in.dy.v[i];

            if (n.relu && !(fire_norm_value(k, i, x_) > 0)) g *= n.slope;
            sum[0].v[i] += g * (x_ - k.mean.v[i]);
            sum[1].v[i] += g;
        }
    }
};

/* Which of the readers' gradients are FIRE_EVEN, zero at all other pixels: none, one of
 * two, or all. */
enum even { NONE, SOME, ALL };

/* Sums for a norm with `other`: g is the sum of one or two (TWO) gradients of readers,
 * where the mask of the ReLU is set. Stores g, as FIRE_EVEN if all readers' gradients
 * are. */
template <typename T, bool TWO, bool RELU, int EVEN> struct branch_sums {
    enum { BATCH = 3 };
    fire_gpu_norm_t n;
    fire_even_t     even;
    bool            even_only, even_only2;
    const T        *x, *dy, *dy2;
    T              *g;

    template <int V> struct inputs {
        fire_raw<V, T> x, dy, dy2;
        uint8_t        positive;
    };
    template <int V> __device__ inputs<V> load(int64_t at) const
    {
        int64_t   place = EVEN == ALL ? fire_even_up(even, at) : at;
        inputs<V> in;

        in.x  = fire_raw_load<V>(x, place);
        in.dy = EVEN == SOME && even_only ? fire_even_load<V>(even, dy, at)
                                          : fire_raw_load<V>(dy, at);
        if (TWO)
            in.dy2 = EVEN == SOME && even_only2 ? fire_even_load<V>(even, dy2, at)
                                                : fire_raw_load<V>(dy2, at);
        if (RELU) in.positive = n.mask[place / V];
        return in;
    }

    template <int V> struct constants {
        fire_lanes<V> mean;
        __device__    constants(const branch_sums &f, int64_t c) : mean()
        {
            if (f.n.mean != NULL) mean = fire_lanes_load_plain<V>(f.n.mean, c);
        }
    };

    template <int V>
    __device__ void add(const constants<V> &k, const inputs<V> &in, int64_t at,
                        fire_lanes<V> *sum) const
    {
        fire_raw<V, T> out;

#pragma unroll
        for (int i = 0; i < V; i++) {
            float d = (float)in.dy.v[i];

            if (TWO) d += (float)in.dy2.v[i];
            if (RELU && !(in.positive >> i & 1)) d = 0;
            out.v[i] = (T)d;
            d        = (float)out.v[i]; /* sum what is stored: rounded */
            sum[0].v[i] += d * ((float)in.x.v[i] - k.mean.v[i]);
            sum[1].v[i] += d;
        }
        *reinterpret_cast<fire_raw<V, T> *>(g + at) = out;
    }
};

/* n.sums and the gradients of gain and shift from partial sums. */
__global__ static void finish_sums(fire_gpu_norm_t n, int parts, const float *partial,
                                   fire_gpu_norm_to_t to)
{
    int64_t channels = n.view.channels, c;
    float   total[2];

    if (!fire_channel_totals<2>(partial, parts, channels, total, &c)) return;
    if (n.inverse != NULL) total[0] *= n.inverse[c];
    n.sums[c]            = total[0];
    n.sums[channels + c] = total[1];
    if (to.dgain != NULL) to.dgain[c] = (to.add_gain ? to.dgain[c] : 0) + total[0];
    if (to.dshift != NULL) to.dshift[c] = (to.add_shift ? to.dshift[c] : 0) + total[1];
}

template <typename T, typename F>
static fire_status_t sum_up(fire_stream_t *s, F f, fire_gpu_view_t view,
                            const fire_gpu_norm_to_t *to)
{
    constexpr int       V = fire_vector<T>::N;
    fire_channel_plan_t p = fire_channel_plan(view, V, s->multiprocessors);
    float              *partial;

    FIRE_TRY((fire_channel_sums<V, 2>(s, p, f, &partial)));
    return FIRE_LAUNCH_TOTALS(s, f.n.view.channels, finish_sums, f.n, p.parts, partial,
                              *to);
}

/* ---- dx ---- */

/* dx. EVEN_ONLY: dy is FIRE_EVEN. */
template <typename T, bool EVEN_ONLY> struct input_gradient {
    enum { BATCH = 4, BLOCKS = 2 };
    fire_gpu_norm_t n;
    fire_even_t     even;
    const T        *x, *dy;
    T              *dx;
    float           share; /* 1 / elements of a channel */

    template <int V> struct inputs {
        fire_raw<V, T> x, dy;
    };
    template <int V> __device__ inputs<V> load(int64_t at) const
    {
        return {fire_raw_load<V>(x, at),
                EVEN_ONLY ? fire_even_load<V>(even, dy, at) : fire_raw_load<V>(dy, at)};
    }

    template <int V> struct constants : fire_norm_channel<V> {
        fire_lanes<V> a, b; /* dx = (g - b - (x - mean) * a) * scale */
        __device__    constants(const input_gradient &f, int64_t c)
            : fire_norm_channel<V>(f.n, c)
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

    template <int V>
    __device__ void apply(const constants<V> &k, const inputs<V> &in, int64_t at) const
    {
        fire_lanes<V> v;

#pragma unroll
        for (int i = 0; i < V; i++) {
            float x_ = (float)in.x.v[i], g = (float)in.dy.v[i];

            if (n.relu && !(fire_norm_value(k, i, x_) > 0)) g *= n.slope;
            v.v[i] = (g - k.b.v[i] - (x_ - k.mean.v[i]) * k.a.v[i]) * k.scale.v[i];
        }
        fire_lanes_store<V>(dx, at, v);
    }
};

template <typename T, bool EVEN_ONLY>
static fire_status_t input(fire_stream_t *s, const fire_gpu_norm_t &n, const T *x,
                           const T *dy, T *dx)
{
    constexpr int       V     = fire_vector<T>::N;
    fire_channel_plan_t p     = fire_channel_plan(n.view, V, s->multiprocessors);
    float               share = 1.0f / (float)(n.view.outer * n.view.inner);

    if (dx == NULL) return FIRE_OK;
    return fire_channel_each<V>(
        s, p, input_gradient<T, EVEN_ONLY>{n, fire_norm_even(n), x, dy, dx, share});
}

template <typename T>
static fire_status_t own(fire_stream_t *s, const fire_gpu_norm_t *n, const T *x,
                         const T *dy, const fire_gpu_norm_to_t *to)
{
    if (n->measured || to->dgain != NULL || to->dshift != NULL)
        FIRE_TRY(sum_up<T>(s, own_sums<T>{*n, x, dy}, n->view, to));
    return input<T, false>(s, *n, x, dy, (T *)to->dx);
}

fire_status_t fire_gpu_norm_backward(fire_stream_t *s, const fire_gpu_norm_t *n,
                                     const void *x, const void *dy,
                                     const fire_gpu_norm_to_t *to)
{
    FIRE_WITH_TYPE(n->dtype, T, return own(s, n, (const T *)x, (const T *)dy, to))
    return FIRE_OK;
}

template <typename T, bool TWO, bool RELU, int EVEN>
static fire_status_t branch(fire_stream_t *s, const fire_gpu_norm_t *n, const T *x,
                            const fire_gpu_norm_sum_t *from,
                            const fire_gpu_norm_to_t  *to)
{
    fire_gpu_view_t view  = EVEN == ALL ? fire_norm_even_view(*n) : n->view;
    fire_gpu_norm_t plain = *n;

    branch_sums<T, TWO, RELU, EVEN> f = {
        *n, fire_norm_even(*n),     from->even_only[0],     from->even_only[1],
        x,  (const T *)from->dy[0], (const T *)from->dy[1], (T *)from->g};

    plain.relu = false; /* g is the gradient before it */
    FIRE_TRY(sum_up<T>(s, f, view, to));
    return input<T, EVEN == ALL>(s, plain, x, (const T *)from->g, (T *)to->dx);
}

template <typename T, bool TWO, bool RELU>
static fire_status_t branch_of(fire_stream_t *s, const fire_gpu_norm_t *n, const T *x,
                               const fire_gpu_norm_sum_t *from,
                               const fire_gpu_norm_to_t  *to)
{
    if (fire_gpu_norm_sum_is_even(from))
        return branch<T, TWO, RELU, ALL>(s, n, x, from, to);
    if constexpr (TWO)
        if (from->even_only[0] || from->even_only[1])
            return branch<T, TWO, RELU, SOME>(s, n, x, from, to);
    return branch<T, TWO, RELU, NONE>(s, n, x, from, to);
}

template <typename T>
static fire_status_t branches(fire_stream_t *s, const fire_gpu_norm_t *n, const T *x,
                              const fire_gpu_norm_sum_t *from,
                              const fire_gpu_norm_to_t  *to)
{
    if (from->dy[1] != NULL)
        return n->relu ? branch_of<T, true, true>(s, n, x, from, to)
                       : branch_of<T, true, false>(s, n, x, from, to);
    return n->relu ? branch_of<T, false, true>(s, n, x, from, to)
                   : branch_of<T, false, false>(s, n, x, from, to);
}

fire_status_t fire_gpu_norm_branch_backward(fire_stream_t *s, const fire_gpu_norm_t *n,
                                            const void                *x,
                                            const fire_gpu_norm_sum_t *from,
                                            const fire_gpu_norm_to_t  *to)
{
    FIRE_WITH_TYPE(n->dtype, T, return branches(s, n, (const T *)x, from, to))
    return FIRE_OK;
}
