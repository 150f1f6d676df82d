/* small_weights.cu - gradients of the weights and the bias of a small convolution. A
 * thread sums one row of taps for two neighbouring output channels; a block sums some
 * images and leaves partial sums, which a second kernel adds in order. */
#include "layers/conv/small/small_tile.h"

enum { THREADS = 512, SHARED = FIRE_SMALL_SHARED, BLOCKS = 128 /* worth having */ };

/* Load dy of the block's channels into shared memory, rows padded to whole strips. */
__device__ static void load_gradients(const fire_small_plan_t &p, const float *dy,
                                      int channels, int row, float *to)
{
    int height = p.c.to[0], width = p.c.to[1], last = channels * height;

    fire_small_rows(
        2 * p.pairs * height, row, to, [&](int i) { return i * row; },
        [&](int i, int w) { return i < last && w < width ? dy[i * width + w] : 0.0f; });
}

/* What a thread sums: tap row r of input channel c, for output channels 2 pair and 2
 * pair + 1; it adds image rows part, part + split ... is_one: there is such a task */
struct task {
    int  part, r, c, pair;
    bool is_one;
};

template <int K>
__device__ static task task_of(const fire_small_plan_t &p, int channels, int i)
{
    task t;

    t.part = i % p.split;
    i /= p.split;
    t.r = i % K;
    i /= K;
    t.c      = i % channels;
    t.pair   = i / channels;
    t.is_one = t.pair < p.pairs;
    return t;
}

/* Add the products of one image; sum[o][K] is the gradient of the bias. */
template <int K, int WIDE>
__device__ static void add_image(const fire_small_plan_t &p, const task &t,
                                 bool has_bias, const float *planes, const float *dy,
                                 float sum[2][K + 1])
{
    int height = p.c.to[0], row = p.strips * WIDE;

    planes += t.c * p.plane + t.r * p.row;
    dy += 2 * t.pair * height * row;
    for (int h = t.part; h < height; h += p.split)
        for (int k = 0; k < row; k += WIDE) {
            fire_strip<WIDE + K - 1> x(planes + h * p.row + k);

#pragma unroll
            for (int o = 0; o < 2; o++) {
                fire_strip<WIDE> d(dy + (o * height + h) * row + k);

#pragma unroll
                for (int i = 0; i < WIDE; i++) {
#pragma unroll
                    for (int q = 0; q < K; q++)
                        sum[o][q] += d.v[i] * x.v[i + q];
                    if (has_bias) sum[o][K] += d.v[i];
                }
            }
        }
}

template <int K>
__device__ static void store(const fire_small_plan_t &p, const task &t, int out,
                             int channel, const float sum[2][K + 1], float *partial)
{
    float *weights = partial + ((out * p.c.in + channel) * K + t.r) * K;
    float *bias    = partial + p.c.out * p.c.in * K * K + out;

    for (int o = 0; o < 2 && out + o < p.c.out; o++) {
#pragma unroll
        for (int q = 0; q < K; q++)
            weights[o * p.c.in * K * K + q] = o == 0 ? sum[0][q] : sum[1][q];
        if (channel == 0 && t.r == 0) bias[o] = o == 0 ? sum[0][K] : sum[1][K];
    }
}

/* Block (x, y, z): 2 * p.pairs output channels, `images` images, p.chunk input
 * channels. partial: (y, weights then bias) */
template <int K, int WIDE>
__global__ static void __launch_bounds__(THREADS)
    gradients(const fire_small_plan_t p, int images, const float *x, const float *dy,
              float *partial)
{
    __shared__ __align__(16) float shared[SHARED];
    int    first = blockIdx.x * 2 * p.pairs, channel = blockIdx.z * p.chunk;
    int    n = min(p.chunk, p.c.in - channel), tile = min(2 * p.pairs, p.c.out - first);
    int    end           = min((int)(blockIdx.y + 1) * images, p.c.images);
    float *planes        = shared + 2 * p.pairs * p.c.to[0] * p.strips * WIDE;
    float  sum[2][K + 1] = {};
    task   t             = task_of<K>(p, n, threadIdx.x);
    bool   has_bias      = channel + t.c == 0 && t.r == 0;
    int64_t from = p.c.from[0] * p.c.from[1], to = p.c.to[0] * p.c.to[1];

    for (int64_t i = blockIdx.y * images; i < end; i++) {
        fire_small_load(p, x + (i * p.c.in + channel) * from, n, planes);
        load_gradients(p, dy + (i * p.c.out + first) * to, tile, p.strips * WIDE,
                       shared);
        __syncthreads();
        if (t.is_one) add_image<K, WIDE>(p, t, has_bias, planes, shared, sum);
        __syncthreads();
    }
    fire_small_sum<2 * (K + 1)>(p.split, &sum[0][0]);
    if (t.is_one && t.part == 0)
        store<K>(p, t, first + 2 * t.pair, channel + t.c, sum,
                 partial + blockIdx.y * (int64_t)p.c.out * (p.c.in * K * K + 1));
}

/* A thread adds the partial sums of one gradient, in order. n: weights and bias */
__global__ static void add_up(int64_t weights, int64_t n, int parts,
                              const float *partial, const fire_gpu_small_to_t to)
{
    FIRE_GRID_STRIDE (i, n) {
        float sum = 0;

        for (int k = 0; k < parts; k++)
            sum += partial[k * n + i];
        if (i < weights)
            to.weights[i] = to.add_weights ? to.weights[i] + sum : sum;
        else if (to.bias != NULL)
            to.bias[i - weights] = to.add_bias ? to.bias[i - weights] + sum : sum;
    }
}

/* dy takes at most half of shared memory, planes of x the rest. */
static fire_small_plan_t plan_of(const fire_gpu_small_t *c)
{
    fire_small_plan_t p   = fire_small_shape(c);
    int               two = 2 * c->to[0] * p.strips * fire_small_wide(c->to[1]);
    int               room, most;

    p.pairs = fire_small_pairs(c->out, SHARED / 2 / two);
    room    = (SHARED - p.pairs * two) / p.plane;
    most    = THREADS / (c->kernel * p.pairs);
    fire_small_cut(&p, room < most ? room : most);
    fire_small_share(&p, c->to[0], c->kernel * p.chunk * p.pairs, THREADS);
    return p;
}

fire_status_t fire_gpu_small_weights(fire_stream_t *s, const fire_gpu_small_t *c,
                                     const float *x, const float *dy,
                                     const fire_gpu_small_to_t *to)
{
    fire_small_plan_t p       = plan_of(c);
    int               weights = c->out * c->in * c->kernel * c->kernel;
    int               tiles   = fire_small_pieces(c->out, 2 * p.pairs);
    int               chunks  = fire_small_pieces(c->in, p.chunk);
    int               images =
        fire_small_pieces(c->images, fire_small_pieces(BLOCKS, tiles * chunks));
    int   parts = fire_small_pieces(c->images, images), n = weights + c->out;
    dim3  grid((unsigned)tiles, (unsigned)parts, (unsigned)chunks);
    void *partial;

    FIRE_TRY(fire_cuda_scratch(s, (size_t)parts * (size_t)n * sizeof(float), &partial));
    FIRE_SMALL_DISPATCH(
        c, K, WIDE,
        FIRE_TRY(FIRE_LAUNCH_GRID(s, grid, p.threads, (gradients<K, WIDE>), p, images,
                                  x, dy, (float *)partial)))
    return FIRE_LAUNCH(s, n, add_up, weights, n, parts, (const float *)partial, *to);
}
