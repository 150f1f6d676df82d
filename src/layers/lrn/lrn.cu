/* lrn.cu - LRN across channels on the GPU. Backward computes the scales again: that is
 * faster than writing and reading them.
 *
 * With channels last, a thread makes V neighbouring channels of a pixel per turn, from
 * these and V more on either side, which is enough for both passes if windows are
 * narrow. */
#include "layers/lrn/lrn.h"

#include "device/cuda/kernel/channel.h"
#include "layers/layer_cuda.h"

/* The layer's numbers, passed to kernels by value. */
typedef struct lrn {
    int   channels, half;  /* half: of the window, without its centre */
    float weight, beta, k; /* weight: alpha / size */
    float back;            /* 2 alpha beta / size */
} lrn_t;

/* s^-beta. beta is 0.75 in nearly all nets, for which two square roots do. */
__device__ static inline float power(float s, float beta)
{
    float root;

    if (beta != 0.75f) return powf(s, -beta);
    root = rsqrtf(s);
    return root * root * rsqrtf(root);
}

/* Three vectors of a pixel's channels: the one before c, that at c, the one behind;
 * zeros outside of the channels. at: offset of channel c */
template <int V, typename T>
__device__ static inline void load_three(const T *p, int64_t at, int c, int channels,
                                         float out[3 * V])
{
#pragma unroll
    for (int part = 0; part < 3; part++) {
        int           from = c + (part - 1) * V;
        fire_lanes<V> v    = {};

        if (from >= 0 && from < channels)
            v = fire_lanes_load<V>(p, at + (part - 1) * V);
#pragma unroll
        for (int i = 0; i < V; i++)
            out[part * V + i] = v.v[i];
    }
}

/* The scale of x[i]. */
template <int V, int HALF>
__device__ static inline float scale_at(const lrn_t &l, const float *x, int i)
{
    float sum = 0;

#pragma unroll
    for (int j = -HALF; j <= HALF; j++)
        sum += x[i + j] * x[i + j];
    return l.k + l.weight * sum;
}

template <typename T, int V, int HALF>
__global__ static void forward_last(int64_t vectors, lrn_t l, const T *x, T *y)
{
    FIRE_GRID_STRIDE (i, vectors) {
        int           c = (int)(i % (l.channels / V)) * V;
        float         near_[3 * V];
        fire_lanes<V> out;

        load_three<V>(x, i * V, c, l.channels, near_);
#pragma unroll
        for (int k = 0; k < V; k++)
            out.v[k] = near_[V + k] * power(scale_at<V, HALF>(l, near_, V + k), l.beta);
        fire_lanes_store<V>(y, i * V, out);
    }
}

/* dx = dy s^-beta - back * x * sum over the window of dy y / s, where y = x s^-beta */
template <typename T, int V, int HALF>
__global__ static void backward_last(int64_t vectors, lrn_t l, const T *x, const T *dy,
                                     T *dx)
{
    FIRE_GRID_STRIDE (i, vectors) {
        int           c = (int)(i % (l.channels / V)) * V;
        float         near_[3 * V], d[3 * V], ratio[V + 2 * HALF], straight[V];
        fire_lanes<V> out;

        load_three<V>(x, i * V, c, l.channels, near_);
        load_three<V>(dy, i * V, c, l.channels, d);
#pragma unroll
        for (int k = 0; k < V + 2 * HALF; k++) {
            int   at = V - HALF + k;
            float s = scale_at<V, HALF>(l, near_, at), p = power(s, l.beta);

            ratio[k] = __fdividef(d[at] * near_[at] * p, s);
            if (k >= HALF && k < V + HALF) straight[k - HALF] = d[at] * p;
        }
#pragma unroll
        for (int k = 0; k < V; k++) {
            float sum = 0;

#pragma unroll
            for (int j = 0; j <= 2 * HALF; j++)
                sum += ratio[k + j];
            out.v[k] = straight[k] - l.back * near_[V + k] * sum;
        }
        fire_lanes_store<V>(dx, i * V, out);
    }
}

/* ---- any window, any layout: channels of a place are `step` elements apart ---- */

/* The scale of channel c of a place; column: its channel 0. */
template <typename T>
__device__ static inline float scale_of(const lrn_t &l, const T *column, int64_t step,
                                        int c)
{
    float sum = 0;

    for (int j = max(c - l.half, 0); j <= min(c + l.half, l.channels - 1); j++) {
        float v = (float)column[j * step];

        sum += v * v;
    }
    return l.k + l.weight * sum;
}

/* Element i: channel c of the place whose channel 0 has offset `column`. */
struct position {
    int64_t column;
    int     c;
};

__device__ static inline position position_of(int64_t i, int channels, int64_t step)
{
    position s;

    s.c      = (int)(i / step % channels);
    s.column = i - s.c * step;
    return s;
}

template <typename T>
__global__ static void forward_any(int64_t n, lrn_t l, int64_t step, const T *x, T *y)
{
    FIRE_GRID_STRIDE (i, n) {
        position s = position_of(i, l.channels, step);

        y[i] = (T)((float)x[i] * power(scale_of(l, x + s.column, step, s.c), l.beta));
    }
}

template <typename T>
__global__ static void backward_any(int64_t n, lrn_t l, int64_t step, const T *x,
                                    const T *dy, T *dx)
{
    FIRE_GRID_STRIDE (i, n) {
        position s   = position_of(i, l.channels, step);
        float    sum = 0, own = 0;

        for (int j = max(s.c - l.half, 0); j <= min(s.c + l.half, l.channels - 1);
             j++) {
            int64_t at    = s.column + j * step;
            float   scale = scale_of(l, x + s.column, step, j);
            float   p     = power(scale, l.beta);

            sum += (float)dy[at] * (float)x[at] * p / scale;
            if (j == s.c) own = (float)dy[at] * p;
        }
        dx[i] = (T)(own - l.back * (float)x[i] * sum);
    }
}

/* ---- the layer ---- */

static lrn_t describe(const fire_layer_t *l)
{
    const fire_lrn_t *s = (const fire_lrn_t *)l->state;
    lrn_t             d;

    d.channels = (int)l->bottom[0]->dim[1];
    d.half     = (int)(s->size - 1) / 2;
    d.weight   = s->alpha / (float)s->size;
    d.beta     = s->beta;
    d.k        = s->k;
    d.back     = (float)(2.0 * s->alpha * s->beta / (double)s->size);
    return d;
}

static fire_format_t format_of(const fire_layer_t *l)
{
    return fire_gpu_format(l, l->bottom[0]);
}

/* Forward (dy NULL, to = y) or backward (to = dx): windows of 3 and 5 channels have
 * kernels of their own. */
template <typename T>
static fire_status_t run(fire_layer_t *l, const fire_format_t *f, const T *x,
                         const T *dy, T *to)
{
    constexpr int  V    = fire_vector<T>::N;
    fire_stream_t *s    = l->ctx->stream;
    lrn_t          d    = describe(l);
    bool           last = f->layout == FIRE_NHWC;
    int64_t        n = fire_blob_count(l->bottom[0]), step = last ? 1 : n;

    if (!last) step = fire_blob_count_range(l->bottom[0], 2, 4);
#define FAST(HALF)                                                                   \
    if (last && d.half == HALF && d.channels % V == 0)                               \
    return dy == NULL                                                                \
               ? FIRE_LAUNCH(s, n / V, (forward_last<T, V, HALF>), n / V, d, x, to)  \
               : FIRE_LAUNCH(s, n / V, (backward_last<T, V, HALF>), n / V, d, x, dy, \
                             to)
    FAST(1);
    FAST(2);
#undef FAST
    return dy == NULL ? FIRE_LAUNCH(s, n, forward_any<T>, n, d, step, x, to)
                      : FIRE_LAUNCH(s, n, backward_any<T>, n, d, step, x, dy, to);
}

static const char *lrn_cuda_declines(const fire_layer_t *l)
{
    return ((const fire_lrn_t *)l->state)->within ? "normalises across channels only"
                                                  : NULL;
}

static fire_status_t lrn_cuda_forward(fire_layer_t *l)
{
    fire_format_t f = format_of(l);
    void         *x, *y;

    FIRE_IN_AS(l->bottom[0], FIRE_DATA, &f, &x);
    FIRE_OUT_AS(l->top[0], FIRE_DATA, &f, &y);
    FIRE_WITH_TYPE(f.dtype, T,
                   return run<T>(l, &f, (const T *)x, (const T *)NULL, (T *)y))
    return FIRE_OK;
}

static fire_status_t lrn_cuda_backward(fire_layer_t *l)
{
    fire_format_t f = format_of(l);
    void         *x, *dy, *dx;

    if (!l->propagate_down[0]) return FIRE_OK;
    FIRE_IN_AS(l->bottom[0], FIRE_DATA, &f, &x);
    FIRE_IN_AS(l->top[0], FIRE_DIFF, &f, &dy);
    FIRE_OUT_AS(l->bottom[0], FIRE_DIFF, &f, &dx);
    FIRE_WITH_TYPE(f.dtype, T,
                   return run<T>(l, &f, (const T *)x, (const T *)dy, (T *)dx))
    return FIRE_OK;
}

extern "C" const fire_kernel_t fire_lrn_cuda = {
    "cuda", FIRE_GPU, lrn_cuda_forward,         lrn_cuda_backward, lrn_cuda_declines,
    NULL,   NULL,     &fire_fusion_reads_bottom};
