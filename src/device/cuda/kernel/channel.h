/* channel.h - templates for sums per channel, and for element-wise work that needs its
 * channel's constants, over arrays (outer, channels, inner). Blocks leave partial sums,
 * which are added in a fixed order: the same bits on every run.
 *
 * With channels last (inner 1) a block has TX x TY threads: TX vectors of channels
 * wide, TY rows high. A thread keeps its channels; all blocks together step over the
 * rows:
 *
 *       channels ->   |0|1|2|3|0|1|2|3|        threadIdx.x
 *   rows  threadIdx.y |.......|.......|        blockIdx.x: which channels
 *    |                                         blockIdx.y: which rows
 *
 * Sums step from the last row to the first, element-wise work from the first to the
 * last: as they alternate, each begins with what the kernel before it has left in the
 * L2 cache. A thread loads BATCH rows before it works on the first of them, which keeps
 * enough loads in flight to run at the speed of a copy.
 *
 * With channels first a block has one channel, of `step` images. */
#ifndef FIRE_DEVICE_CUDA_KERNEL_CHANNEL_H
#define FIRE_DEVICE_CUDA_KERNEL_CHANNEL_H
#include "device/cuda/kernel/block.h"
#include "device/cuda/kernel/divide.h"
#include "device/cuda/kernel/lanes.h"
#include "device/cuda/kernel/view.h"

enum { FIRE_CHANNEL_THREADS = 256, FIRE_CHANNEL_PARTS = 1024 };

enum { FIRE_CHANNEL_BLOCKS = 2 }; /* resident on a multiprocessor */

/* How blocks share the work; made by fire_channel_plan(), passed by value. */
typedef struct fire_channel_plan {
    fire_gpu_view_t view;
    int             vector;  /* elements per load; 1 unless channels are last */
    int             tx, ty;  /* threads of a block */
    int             parts;   /* partial sums per channel: blocks along the rows */
    int64_t         step;    /* channels first: images of one part */
    unsigned        columns; /* blocks along the channels */
    fire_divisor_t  by_inner;
    /* Where to store the sum if there is one part and one sum (K = 1), which saves a
     * second launch; NULL: always leave partial sums. add: += instead of =. */
    float *sum;
    bool   add;
} fire_channel_plan_t;

/* vector: elements in 16 bytes; becomes 1 where the channels are no multiple of it. */
static inline fire_channel_plan_t fire_channel_plan(fire_gpu_view_t view, int vector,
                                                    int multiprocessors)
{
    fire_channel_plan_t p    = {view, 1, 32, FIRE_CHANNEL_THREADS / 32, 1, 1, 1};
    int64_t             most = (int64_t)FIRE_CHANNEL_BLOCKS * multiprocessors, rows = 1;

    p.by_inner = fire_divisor(view.inner);
    if (view.inner == 1) {
        p.vector = view.channels % vector == 0 ? vector : 1;
        while (p.tx > 1 && p.tx / 2 * p.vector >= view.channels)
            p.tx /= 2;
        p.ty = FIRE_CHANNEL_THREADS / p.tx;
        p.columns =
            (unsigned)((view.channels + p.tx * p.vector - 1) / (p.tx * p.vector));
        rows =
            4 * p.ty; /* at least 4 rows per thread: fewer blocks, fewer partial sums */
    } else {
        p.columns = (unsigned)view.channels;
        most *= 2; /* these blocks use few registers */
    }
    most /= p.columns;
    /* Few elements: one part, so that one launch does it all. */
    if (view.outer * view.inner <= 16 * (view.inner == 1 ? p.ty : FIRE_CHANNEL_THREADS))
        most = 1;
    if (most > view.outer / rows) most = view.outer / rows;
    if (most > FIRE_CHANNEL_PARTS) most = FIRE_CHANNEL_PARTS;
    if (most < 1) most = 1;
    p.step  = (view.outer + most - 1) / most;
    p.parts = (int)(p.step > 0 ? (view.outer + p.step - 1) / p.step : 1);
    return p;
}

/* Add V values over threadIdx.y, as a tree; the result is valid where threadIdx.y is
 * 0. */
template <int V> __device__ static inline fire_lanes<V> fire_add_rows(fire_lanes<V> x)
{
    __shared__ float sum[V][FIRE_CHANNEL_THREADS];
    int              me = threadIdx.y * blockDim.x + threadIdx.x;

    __syncthreads();
#pragma unroll
    for (int k = 0; k < V; k++)
        sum[k][me] = x.v[k];
    __syncthreads();
    for (int half = blockDim.y / 2; half > 0; half /= 2) {
        if ((int)threadIdx.y < half)
#pragma unroll
            for (int k = 0; k < V; k++)
                sum[k][me] += sum[k][me + half * blockDim.x];
        __syncthreads();
    }
#pragma unroll
    for (int k = 0; k < V; k++)
        x.v[k] = sum[k][me];
    return x;
}

/* Store a block's sum k of channels c ... c + V - 1: to p.sum if it is the only part,
 * else to partial (K, parts, channels). */
template <int V>
__device__ static inline void
fire_channel_store_sums(const fire_channel_plan_t &p, int k, int64_t c,
                        const fire_lanes<V> &total, float *partial)
{
    if (p.parts == 1 && p.sum != NULL)
        for (int i = 0; i < V; i++)
            p.sum[c + i] = p.add ? p.sum[c + i] + total.v[i] : total.v[i];
    else
        for (int i = 0; i < V; i++)
            partial[((int64_t)k * p.parts + blockIdx.y) * p.view.channels + c + i] =
                total.v[i];
}

/* Channels last: partial[(k * parts + part) * channels + c] = sum k over the part's
 * rows. F says what is summed:
 *     struct constants<V>(F, channel)       what V channels need; made once per thread
 *     struct inputs<V> load<V>(at)          the values at V elements from offset `at`
 *     void add<V>(constants, inputs, at, fire_lanes<V> sum[K])
 *     enum { BATCH }                        loads in flight per thread */
template <int V, int K, typename F>
__global__ static void __launch_bounds__(FIRE_CHANNEL_THREADS, FIRE_CHANNEL_BLOCKS)
    fire_channel_rows(fire_channel_plan_t p, F f, float *partial)
{
    int64_t c    = ((int64_t)blockIdx.x * blockDim.x + threadIdx.x) * V;
    int64_t step = (int64_t)gridDim.y * blockDim.y;
    int64_t row  = p.view.outer - 1 - ((int64_t)blockIdx.y * blockDim.y + threadIdx.y);
    bool    mine = c < p.view.channels;
    fire_lanes<V> sum[K] = {};

    if (mine) {
        typename F::template constants<V> k(f, c);

        for (; row >= 0; row -= F::BATCH * step) {
            typename F::template inputs<V> in[F::BATCH];

#pragma unroll
            for (int i = 0; i < F::BATCH; i++)
                in[i] = f.template load<V>(
                    (row >= i * step ? row - i * step : 0) * p.view.channels + c);
#pragma unroll
            for (int i = 0; i < F::BATCH; i++)
                if (row >= i * step)
                    f.template add<V>(k, in[i], (row - i * step) * p.view.channels + c,
                                      sum);
        }
    }
    for (int k = 0; k < K; k++) {
        fire_lanes<V> total = fire_add_rows<V>(sum[k]);

        if (threadIdx.y == 0 && mine)
            fire_channel_store_sums<V>(p, k, c, total, partial);
    }
}

/* Channels first: a block takes the planes of its channel in `step` images as one row
 * of elements, which suits many small planes as well as a few large ones. */
template <int K, typename F>
__global__ static void fire_channel_planes(fire_channel_plan_t p, F f, float *partial)
{
    int64_t       c = blockIdx.x, first = (int64_t)blockIdx.y * p.step;
    int64_t       end   = first + p.step < p.view.outer ? first + p.step : p.view.outer;
    int64_t       last  = (end - first) * p.view.inner - 1;
    int64_t       start = threadIdx.y * blockDim.x + threadIdx.x;
    fire_lanes<1> sum[K] = {};

    typename F::template constants<1> constants(f, c);

    for (int64_t i = start; i <= last; i += F::BATCH * FIRE_CHANNEL_THREADS) {
        typename F::template inputs<1> in[F::BATCH];
        int64_t                        at[F::BATCH];

#pragma unroll
        for (int k = 0; k < F::BATCH; k++) {
            int64_t  mine  = i + k * FIRE_CHANNEL_THREADS;
            uint64_t plane = (uint64_t)(mine < last ? mine : last);
            unsigned place = fire_divmod(&plane, p.by_inner);

            at[k] =
                ((first + (int64_t)plane) * p.view.channels + c) * p.view.inner + place;
            in[k] = f.template load<1>(at[k]);
        }
#pragma unroll
        for (int k = 0; k < F::BATCH; k++)
            if (i + k * FIRE_CHANNEL_THREADS <= last)
                f.template add<1>(constants, in[k], at[k], sum);
    }
    for (int k = 0; k < K; k++) {
        fire_lanes<1> total = fire_add_rows<1>(sum[k]);

        total.v[0] = fire_reduce<32, fire_plus>(total.v[0]);
        if (threadIdx.y == 0 && threadIdx.x == 0)
            fire_channel_store_sums<1>(p, k, c, total, partial);
    }
}

/* Launch the sums of all channels; partial (K, parts, channels) is in the workspace,
 * valid until its next use. V: elements in 16 bytes. */
template <int V, int K, typename F>
static fire_status_t fire_channel_sums(fire_stream_t *s, const fire_channel_plan_t &p,
                                       F f, float **partial_p)
{
    size_t bytes =
        (size_t)K * (size_t)p.parts * (size_t)p.view.channels * sizeof(float);
    dim3  block((unsigned)p.tx, (unsigned)p.ty), grid(p.columns, (unsigned)p.parts);
    void *partial;

    FIRE_TRY(fire_cuda_workspace(s, bytes, &partial));
    *partial_p = (float *)partial;
    if (p.view.inner > 1)
        return FIRE_LAUNCH_GRID(s, grid, block, (fire_channel_planes<K, F>), p, f,
                                *partial_p);
    if (p.vector > 1)
        return FIRE_LAUNCH_GRID(s, grid, block, (fire_channel_rows<V, K, F>), p, f,
                                *partial_p);
    return FIRE_LAUNCH_GRID(s, grid, block, (fire_channel_rows<1, K, F>), p, f,
                            *partial_p);
}

/* Add the partial sums of all parts. A block has 8 channels x 32 threads, which share
 * the parts. Where it returns true, total[k] of channel *c_p is valid. Launch the
 * kernel that calls it by FIRE_LAUNCH_TOTALS. */
enum { FIRE_TOTAL_CHANNELS = 8 };

template <int K>
__device__ static inline bool fire_channel_totals(const float *partial, int parts,
                                                  int64_t channels, float total[K],
                                                  int64_t *c_p)
{
    int64_t       c   = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    fire_lanes<K> sum = {};

#pragma unroll 8
    for (int i = threadIdx.y; c < channels && i < parts; i += blockDim.y)
#pragma unroll
        for (int k = 0; k < K; k++)
            sum.v[k] += partial[((int64_t)k * parts + i) * channels + c];
    sum = fire_add_rows<K>(sum);
    for (int k = 0; k < K; k++)
        total[k] = sum.v[k];
    *c_p = c;
    return threadIdx.y == 0 && c < channels;
}

#define FIRE_LAUNCH_TOTALS(s, channels, kernel, ...)                                   \
    FIRE_LAUNCH_GRID(                                                                  \
        s, (unsigned)(((channels) + FIRE_TOTAL_CHANNELS - 1) / FIRE_TOTAL_CHANNELS),   \
        dim3(FIRE_TOTAL_CHANNELS, FIRE_CHANNEL_THREADS / FIRE_TOTAL_CHANNELS), kernel, \
        __VA_ARGS__)

/* ---- element-wise work that knows its channel ---- */

/* F: constants, inputs, load and BATCH as above; BLOCKS, how many a multiprocessor has
 * registers for; void apply<V>(constants, inputs, at) instead of add. Channels last. */
template <int V, typename F>
__global__ static void __launch_bounds__(FIRE_CHANNEL_THREADS, F::BLOCKS)
    fire_channel_each_row(fire_channel_plan_t p, F f)
{
    int64_t c    = ((int64_t)blockIdx.x * blockDim.x + threadIdx.x) * V;
    int64_t step = (int64_t)gridDim.y * blockDim.y, last = p.view.outer - 1;
    int64_t row = (int64_t)blockIdx.y * blockDim.y + threadIdx.y;

    if (c >= p.view.channels) return;
    typename F::template constants<V> k(f, c);
    for (; row <= last; row += F::BATCH * step) {
        typename F::template inputs<V> in[F::BATCH];

#pragma unroll
        for (int i = 0; i < F::BATCH; i++)
            in[i] = f.template load<V>(
                (row + i * step <= last ? row + i * step : last) * p.view.channels + c);
#pragma unroll
        for (int i = 0; i < F::BATCH; i++)
            if (row + i * step <= last)
                f.template apply<V>(k, in[i], (row + i * step) * p.view.channels + c);
    }
}

/* Channels first: a block takes whole planes, one after another. */
template <typename F>
__global__ static void fire_channel_each_plane(fire_channel_plan_t p, F f)
{
    for (int64_t plane = blockIdx.x; plane < p.view.outer * p.view.channels;
         plane += gridDim.x) {
        typename F::template constants<1> k(f, plane % p.view.channels);

        for (int64_t i = threadIdx.x; i < p.view.inner; i += blockDim.x) {
            int64_t at = plane * p.view.inner + i;

            f.template apply<1>(k, f.template load<1>(at), at);
        }
    }
}

/* Call F::apply for all elements. */
template <int V, typename F>
static fire_status_t fire_channel_each(fire_stream_t *s, const fire_channel_plan_t &p,
                                       F f)
{
    dim3    block((unsigned)p.tx, (unsigned)p.ty);
    int64_t rows     = (p.view.outer + p.ty - 1) / p.ty,
            most     = F::BLOCKS * s->multiprocessors;
    int64_t  planes  = p.view.outer * p.view.channels;
    unsigned threads = p.view.inner >= 256 ? 256 : p.view.inner >= 128 ? 128 : 64;

    most = most / p.columns;
    if (most < 1) most = 1;
    if (planes == 0 || p.view.inner == 0) return FIRE_OK;
    if (p.view.inner > 1)
        return FIRE_LAUNCH_GRID(s, (unsigned)(planes < 65536 ? planes : 65536), threads,
                                (fire_channel_each_plane<F>), p, f);
    dim3 grid(p.columns, (unsigned)(rows < most ? rows : most));
    if (p.vector > 1)
        return FIRE_LAUNCH_GRID(s, grid, block, (fire_channel_each_row<V, F>), p, f);
    return FIRE_LAUNCH_GRID(s, grid, block, (fire_channel_each_row<1, F>), p, f);
}
#endif
