/* channel.h - sums per channel over arrays seen as outer x channels x inner, the same on
 * every run: blocks leave partial sums, which are added in a fixed order.
 *
 * Channels last (inner 1), a block is TX vectors of channels wide and TY rows high; each
 * thread keeps its channels and walks down the rows:
 *
 *       channels ->   |0|1|2|3|0|1|2|3|        threadIdx.x
 *   rows  threadIdx.y |.......|.......|        blockIdx.x: which channels
 *    |                                         blockIdx.y: which rows
 *
 * Channels first, a block has one channel and walks over planes. */
#ifndef FIRE_LAYERS_CUDA_CHANNEL_H
#define FIRE_LAYERS_CUDA_CHANNEL_H
#include "layers/cuda/layer_cuda.h"
#include "layers/cuda/map.h"

enum { FIRE_CHANNEL_THREADS = 256, FIRE_CHANNEL_PARTS = 1024 };

/* V elements in a row, in float32. */
template <int V> struct fire_lanes {
    float v[V];
};

template <int V, typename T>
__device__ static inline fire_lanes<V> fire_lanes_load(const T *p, int64_t at)
{
    fire_lanes<V> out;

    if constexpr (V == 1) {
        out.v[0] = (float)p[at];
    } else {
        fire_vector<T> raw = *reinterpret_cast<const fire_vector<T> *>(p + at);

#pragma unroll
        for (int k = 0; k < V; k++)
            out.v[k] = (float)raw.v[k];
    }
    return out;
}

template <int V, typename T>
__device__ static inline void fire_lanes_store(T *p, int64_t at,
                                               const fire_lanes<V> &in)
{
    if constexpr (V == 1) {
        p[at] = (T)in.v[0];
    } else {
        fire_vector<T> raw;

#pragma unroll
        for (int k = 0; k < V; k++)
            raw.v[k] = (T)in.v[k];
        *reinterpret_cast<fire_vector<T> *>(p + at) = raw;
    }
}

/* The same from float32, of any alignment. */
template <int V>
__device__ static inline fire_lanes<V> fire_lanes_load_plain(const float *p, int64_t at)
{
    fire_lanes<V> out;

#pragma unroll
    for (int k = 0; k < V; k++)
        out.v[k] = p[at + k];
    return out;
}

/* How blocks share the work; made by fire_channel_plan(). */
typedef struct fire_channel_plan {
    fire_gpu_view_t view;
    int             vector; /* elements a thread takes at once */
    int             tx, ty;
    int             parts; /* partial sums per channel */
    int64_t         step;  /* rows (inner 1) or planes of one part */
    unsigned        columns;
} fire_channel_plan_t;

/* `vector`: elements of 16 bytes; 1 is taken where channels do not divide. */
static inline fire_channel_plan_t fire_channel_plan(fire_gpu_view_t view, int vector,
                                                    int multiprocessors)
{
    fire_channel_plan_t p = {view, 1, 32, FIRE_CHANNEL_THREADS / 32, 1, 1, 1};
    int64_t             blocks;

    if (view.inner == 1) {
        p.vector = view.channels % vector == 0 ? vector : 1;
        while (p.tx > 1 && p.tx / 2 * p.vector >= view.channels)
            p.tx /= 2;
        p.ty = FIRE_CHANNEL_THREADS / p.tx;
        p.columns =
            (unsigned)((view.channels + p.tx * p.vector - 1) / (p.tx * p.vector));
    } else {
        p.columns = (unsigned)view.channels;
    }
    /* About four blocks for each multiprocessor, each with some rows per thread. */
    blocks = 4 * (int64_t)multiprocessors / p.columns + 1;
    p.step = (view.outer + blocks - 1) / blocks;
    if (view.inner == 1 && p.step < 4 * p.ty) p.step = 4 * p.ty;
    if (p.step < 1) p.step = 1;
    if ((view.outer + p.step - 1) / p.step > FIRE_CHANNEL_PARTS)
        p.step = (view.outer + FIRE_CHANNEL_PARTS - 1) / FIRE_CHANNEL_PARTS;
    p.parts = (int)((view.outer + p.step - 1) / p.step);
    if (p.parts < 1) p.parts = 1;
    return p;
}

/* Add over threadIdx.y; the result is valid where threadIdx.y is 0. */
template <int V> __device__ static inline fire_lanes<V> fire_add_rows(fire_lanes<V> x)
{
    __shared__ float sum[FIRE_CHANNEL_THREADS][V];
    int              me = threadIdx.y * blockDim.x + threadIdx.x;

    __syncthreads();
#pragma unroll
    for (int k = 0; k < V; k++)
        sum[me][k] = x.v[k];
    __syncthreads();
    for (int half = blockDim.y / 2; half > 0; half /= 2) {
        if ((int)threadIdx.y < half)
#pragma unroll
            for (int k = 0; k < V; k++)
                sum[me][k] += sum[me + half * blockDim.x][k];
        __syncthreads();
    }
#pragma unroll
    for (int k = 0; k < V; k++)
        x.v[k] = sum[me][k];
    return x;
}

/* Add over a warp, all lanes get the result. */
__device__ static inline float fire_warp_sum(float x)
{
    for (int lane = 16; lane > 0; lane /= 2)
        x += __shfl_xor_sync(0xffffffffu, x, lane);
    return x;
}

/* partial[(k * parts + part) * channels + c] = sum of what F gives for k = 0 ... K-1.
 * F: template <int V> struct constants, made of (F, channel) once for many elements;
 * template <int V> void add(constants<V>, int64_t at, fire_lanes<V> sum[K]). */
template <int V, int K, typename F>
__global__ static void fire_channel_rows(fire_channel_plan_t p, F f, float *partial)
{
    int64_t       c      = ((int64_t)blockIdx.x * blockDim.x + threadIdx.x) * V;
    int64_t       row    = blockIdx.y * p.step + threadIdx.y;
    int64_t       end    = (blockIdx.y + 1) * p.step;
    bool          mine   = c < p.view.channels;
    fire_lanes<V> sum[K] = {};

    if (end > p.view.outer) end = p.view.outer;
    if (mine) {
        typename F::template constants<V> k(f, c);

#pragma unroll 4
        for (; row < end; row += blockDim.y)
            f.template add<V>(k, row * p.view.channels + c, sum);
    }
    for (int k = 0; k < K; k++) {
        fire_lanes<V> total = fire_add_rows<V>(sum[k]);

        if (threadIdx.y == 0 && mine)
            for (int i = 0; i < V; i++)
                partial[((int64_t)k * p.parts + blockIdx.y) * p.view.channels + c + i] =
                    total.v[i];
    }
}

template <int K, typename F>
__global__ static void fire_channel_planes(fire_channel_plan_t p, F f, float *partial)
{
    int64_t       c = blockIdx.x, n = blockIdx.y * p.step + threadIdx.y;
    int64_t       end    = (blockIdx.y + 1) * p.step;
    fire_lanes<1> sum[K] = {};

    typename F::template constants<1> constants(f, c);

    if (end > p.view.outer) end = p.view.outer;
    for (; n < end; n += blockDim.y)
        for (int64_t i = threadIdx.x; i < p.view.inner; i += blockDim.x)
            f.template add<1>(constants, (n * p.view.channels + c) * p.view.inner + i,
                              sum);
    for (int k = 0; k < K; k++) {
        fire_lanes<1> total = fire_add_rows<1>(sum[k]);

        total.v[0] = fire_warp_sum(total.v[0]);
        if (threadIdx.y == 0 && threadIdx.x == 0)
            partial[((int64_t)k * p.parts + blockIdx.y) * p.view.channels + c] =
                total.v[0];
    }
}

/* Partial sums of all channels, in scratch memory that is valid until the next use. */
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

/* The sums of all parts, by blocks of a few channels whose rows of threads share the
 * parts: total[k] of channel *c_p is valid where true comes back. */
enum { FIRE_TOTAL_CHANNELS = 8 };

template <int K>
__device__ static inline bool fire_channel_totals(const float *partial, int parts,
                                                  int64_t channels, float total[K],
                                                  int64_t *c_p)
{
    int64_t c = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;

    for (int k = 0; k < K; k++) {
        fire_lanes<1> sum = {};

#pragma unroll 4
        for (int i = threadIdx.y; c < channels && i < parts; i += blockDim.y)
            sum.v[0] += partial[((int64_t)k * parts + i) * channels + c];
        total[k] = fire_add_rows<1>(sum).v[0];
    }
    *c_p = c;
    return threadIdx.y == 0 && c < channels;
}

#define FIRE_LAUNCH_TOTALS(s, channels, kernel, ...)                                   \
    FIRE_LAUNCH_GRID(                                                                  \
        s, (unsigned)(((channels) + FIRE_TOTAL_CHANNELS - 1) / FIRE_TOTAL_CHANNELS),   \
        dim3(FIRE_TOTAL_CHANNELS, FIRE_CHANNEL_THREADS / FIRE_TOTAL_CHANNELS), kernel, \
        __VA_ARGS__)

/* ---- element-wise work that knows its channel ---- */

/* F: constants as above; template <int V> void apply(constants<V>, int64_t at). */
template <int V, typename F>
__global__ static void fire_channel_each_row(fire_channel_plan_t p, F f)
{
    int64_t c   = ((int64_t)blockIdx.x * blockDim.x + threadIdx.x) * V;
    int64_t row = (int64_t)blockIdx.y * blockDim.y + threadIdx.y;

    if (c >= p.view.channels) return;
    typename F::template constants<V> k(f, c);
#pragma unroll 2
    for (; row < p.view.outer; row += (int64_t)gridDim.y * blockDim.y)
        f.template apply<V>(k, row * p.view.channels + c);
}

template <typename F>
__global__ static void fire_channel_each_plane(fire_channel_plan_t p, F f)
{
    for (int64_t plane = blockIdx.x; plane < p.view.outer * p.view.channels;
         plane += gridDim.x) {
        typename F::template constants<1> k(f, plane % p.view.channels);

        for (int64_t i = threadIdx.x; i < p.view.inner; i += blockDim.x)
            f.template apply<1>(k, plane * p.view.inner + i);
    }
}

template <int V, typename F>
static fire_status_t fire_channel_each(fire_stream_t *s, const fire_channel_plan_t &p,
                                       F f)
{
    dim3     block((unsigned)p.tx, (unsigned)p.ty);
    int64_t  rows = (p.view.outer + p.ty - 1) / p.ty, most = 16 * s->multiprocessors;
    int64_t  planes  = p.view.outer * p.view.channels;
    unsigned threads = p.view.inner >= 256 ? 256 : p.view.inner >= 128 ? 128 : 64;

    most = most / p.columns + 1;
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
