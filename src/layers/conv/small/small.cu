/* small.cu - forward, and backward to the input. A block makes a few output channels of
 * one image: its threads are (pair of channels, row, strip of WIDE places, share of the
 * sum). */
#include "layers/conv/small/small_tile.h"

enum { THREADS = 256, SHARED = FIRE_SMALL_SHARED };

/* Load the weights of the block's channels to shared memory as (out, chunk, K * K) or,
 * for BACK, (chunk, out, K * K): the order in which they are contiguous in global
 * memory. */
template <int K, bool BACK>
__device__ static void load_weights(const fire_small_plan_t &p, const float *weights,
                                    int first, int channel, int channels, float *to)
{
    int inner = K * K * (BACK ? 2 * p.pairs : p.chunk);
    int left = K * K * (BACK ? p.c.out - first : channels); /* of them, what there is */

    fire_small_fill((BACK ? channels : 2 * p.pairs) * inner, to, [&](int i) {
        int outer = (int)fire_divide_short(i, p.by_taps), at = i - outer * inner;

        if (at >= left) return 0.0f;
        if (BACK) return weights[((channel + outer) * p.c.out + first) * K * K + at];
        return first + outer < p.c.out
                   ? weights[((first + outer) * p.c.in + channel) * K * K + at]
                   : 0.0f;
    });
}

/* What a thread makes: strip `strip` of row h of channels 2 pair and 2 pair + 1; it
 * adds input channels part, part + split ... is_one: there is such a task for this
 * thread */
struct task {
    int  part, strip, h, pair;
    bool is_one;
};

__device__ static task task_of(const fire_small_plan_t &p, int i)
{
    task t;

    t.part = i % p.split;
    i /= p.split;
    t.strip = i % p.strips;
    i /= p.strips;
    t.h      = i % p.c.to[0];
    t.pair   = i / p.c.to[0];
    t.is_one = t.pair < p.pairs;
    return t;
}

/* Add the products of `channels` input channels in shared memory to the thread's
 * sums. */
template <int K, int WIDE, bool BACK>
__device__ static void add_channels(const fire_small_plan_t &p, const task &t,
                                    int channels, const float *planes,
                                    const float *weights, float sum[2][WIDE])
{
    planes += t.h * p.row + t.strip * WIDE;
    for (int c = t.part; c < channels; c += p.split)
#pragma unroll 1 /* code that runs once takes longer to fetch than to run */
        for (int r = 0; r < K; r++) {
            fire_strip<WIDE + K - 1> x(planes + c * p.plane + r * p.row);

#pragma unroll
            for (int o = 0; o < 2; o++) {
                int          out = 2 * t.pair + o;
                const float *w =
                    weights +
                    (BACK ? c * 2 * p.pairs + out : out * p.chunk + c) * K * K;

#pragma unroll
                for (int q = 0; q < K; q++) {
                    float tap = w[BACK ? K * K - 1 - (r * K + q) : r * K + q];

#pragma unroll
                    for (int i = 0; i < WIDE; i++)
                        sum[o][i] += tap * x.v[i + q];
                }
            }
        }
}

/* Store 16 bytes at a time where rows are aligned: neighbouring threads store far from
 * each other, so that single stores would not be combined. left: places to the end of
 * the row */
template <int WIDE>
__device__ static void store_strip(int width, int left, const float *v, float *to)
{
#pragma unroll
    for (int i = 0; i < WIDE; i += 4)
        if (width % 4 == 0 && i < left)
            fire_lanes_store<4>(to, i, {{v[i], v[i + 1], v[i + 2], v[i + 3]}});
#pragma unroll
    for (int i = 0; i < WIDE; i++)
        if (width % 4 != 0 && i < left) to[i] = v[i];
}

template <int WIDE>
__device__ static void store(const fire_small_plan_t &p, const task &t, int first,
                             const float sum[2][WIDE], const float *bias, float *y)
{
    int width = p.c.to[1], left = width - t.strip * WIDE;

#pragma unroll
    for (int o = 0; o < 2; o++) {
        int    out   = first + 2 * t.pair + o;
        float  shift = bias != NULL && out < p.c.out ? bias[out] : 0.0f;
        float *to    = y + (out * p.c.to[0] + t.h) * width + t.strip * WIDE;
        float  v[WIDE];

#pragma unroll
        for (int i = 0; i < WIDE; i++) {
            v[i] = sum[o][i] + shift;
            if (p.c.relu && !(v[i] > 0)) v[i] = 0;
        }
        if (out < p.c.out) store_strip<WIDE>(width, left, v, to);
    }
}

/* Block (x, y): 2 * p.pairs output channels from x * 2 * p.pairs on, of image y. */
template <int K, int WIDE, bool BACK>
__global__ static void __launch_bounds__(THREADS, 2)
    convolve(const fire_small_plan_t p, const float *x, const float *weights,
             const float *bias, float *y)
{
    __shared__ __align__(16) float shared[SHARED];
    int                            first = blockIdx.x * 2 * p.pairs, in = p.c.in;
    int64_t                        image        = blockIdx.y;
    float                         *taps         = shared + p.chunk * p.plane;
    float                          sum[2][WIDE] = {};
    task                           t            = task_of(p, threadIdx.x);

    for (int c = 0; c < in; c += p.chunk) {
        int n = min(p.chunk, in - c);

        if (c > 0) __syncthreads();
        fire_small_load(p, x + (image * in + c) * p.c.from[0] * p.c.from[1], n, shared);
        load_weights<K, BACK>(p, weights, first, c, n, taps);
        __syncthreads();
        if (t.is_one) add_channels<K, WIDE, BACK>(p, t, n, shared, taps, sum);
    }
    fire_small_sum<2 * WIDE>(p.split, &sum[0][0]);
    if (t.is_one && t.part == 0)
        store<WIDE>(p, t, first, sum, bias,
                    y + image * p.c.out * p.c.to[0] * p.c.to[1]);
}

static fire_small_plan_t plan_of(const fire_gpu_small_t *c, bool back)
{
    int               taps   = c->kernel * c->kernel;
    fire_small_plan_t p      = fire_small_shape(c);
    int               places = c->to[0] * p.strips;

    p.pairs = fire_small_pairs(c->out, THREADS / places);
    fire_small_cut(&p, SHARED / (p.plane + 2 * p.pairs * taps));
    fire_small_share(&p, p.chunk, p.pairs * places, THREADS);
    p.by_taps = fire_divisor(taps * (back ? 2 * p.pairs : p.chunk));
    return p;
}

fire_status_t fire_gpu_small_run(fire_stream_t *s, const fire_gpu_small_t *c, bool back,
                                 const float *x, const float *weights,
                                 const float *bias, float *y)
{
    fire_small_plan_t p = plan_of(c, back);
    dim3 grid((unsigned)fire_small_pieces(c->out, 2 * p.pairs), (unsigned)c->images);

    FIRE_SMALL_DISPATCH(
        c, K, WIDE,
        return back ? FIRE_LAUNCH_GRID(s, grid, p.threads, (convolve<K, WIDE, true>), p,
                                       x, weights, bias, y)
                    : FIRE_LAUNCH_GRID(s, grid, p.threads, (convolve<K, WIDE, false>),
                                       p, x, weights, bias, y))
    return FIRE_OK;
}
