/* small_tile.h - what the kernels of small convolutions share: how work is cut over
 * blocks and threads, and loading planes into shared memory. Index arithmetic is most
 * of the work here, so it avoids divisions. */
#ifndef FIRE_LAYERS_CONV_SMALL_SMALL_TILE_H
#define FIRE_LAYERS_CONV_SMALL_SMALL_TILE_H
#include "device/cuda/kernel/divide.h"
#include "device/cuda/kernel/lanes.h"
#include "layers/conv/small/small.h"

enum { FIRE_SMALL_SHARED = 12288 }; /* floats of shared memory of a block: 48 KiB */

/* Made on the host, passed to kernels by value. */
typedef struct fire_small_plan {
    fire_gpu_small_t c;
    int              strips;     /* WIDE elements each, in a row of the result */
    int              row, plane; /* floats of a row and of a plane in shared memory */
    int              padded;     /* rows of a plane */
    int              pairs;      /* pairs of output channels in a block */
    int              chunk;      /* input channels in shared memory at a time */
    int              split;      /* threads that share a sum: 1, 2, 4 ... 32 */
    int              threads;    /* of a block */
    fire_divisor_t   by_padded, by_taps;
} fire_small_plan_t;

/* n / of, rounded up. */
static inline int fire_small_pieces(int n, int of)
{
    return (n + of - 1) / of;
}

/* WIDE, places of a strip: 12 or 8, whichever wastes less at the end of a row. */
static inline int fire_small_wide(int width)
{
    return fire_small_pieces(width, 12) * 12 <= fire_small_pieces(width, 8) * 8 ? 12
                                                                                : 8;
}

/* Pairs of a block, up to `most`: those that leave the fewest channels unused in the
 * last block. */
static inline int fire_small_pairs(int channels, int most)
{
    int best = 1, least = channels + 1;

    for (int n = 1; n <= most && n <= 6; n++) {
        int all = fire_small_pieces(channels, 2 * n) * 2 * n;

        if (all <= least) {
            least = all;
            best  = n;
        }
    }
    return best;
}

/* The layout of planes in shared memory. Rows begin at multiples of 16 bytes, and eight
 * successive rows, as well as neighbouring planes, in different banks. */
static inline fire_small_plan_t fire_small_shape(const fire_gpu_small_t *c)
{
    int               wide = fire_small_wide(c->to[1]), floats;
    fire_small_plan_t p    = {*c};

    p.strips    = fire_small_pieces(c->to[1], wide);
    p.row       = 4 * (fire_small_pieces(p.strips * wide + c->kernel - 1, 4) | 1);
    p.padded    = c->to[0] + c->kernel - 1;
    floats      = p.padded * p.row;
    p.plane     = floats + (36 - floats % 32) % 32;
    p.by_padded = fire_divisor(p.padded);
    return p;
}

/* Cut the input channels into chunks of about equal size, at most `most`. */
static inline void fire_small_cut(fire_small_plan_t *p, int most)
{
    p->chunk = fire_small_pieces(p->c.in, fire_small_pieces(p->c.in, most));
}

/* Threads of a block for `items` sums of `work` terms each: sums are split over 2, 4
 * ... threads as long as the block has room. */
static inline void fire_small_share(fire_small_plan_t *p, int work, int items,
                                    int threads)
{
    p->split = 1;
    while (p->split < 32 && 2 * p->split <= work && 2 * p->split * items <= threads)
        p->split *= 2;
    p->threads = fire_small_pieces(p->split * items, 32) * 32;
}

/* to[i] = from(i) for i < n, by all threads of a block. Each loads 8 elements before it
 * stores the first, so that their latencies overlap. */
template <typename F>
__device__ static inline void fire_small_fill(int n, float *to, F from)
{
    enum { AT_ONCE = 8 };

    for (int first = threadIdx.x; first < n; first += AT_ONCE * blockDim.x) {
        float v[AT_ONCE];

#pragma unroll
        for (int k = 0; k < AT_ONCE; k++) {
            int i = first + k * blockDim.x;

            v[k] = i < n ? from(i) : 0.0f;
        }
#pragma unroll
        for (int k = 0; k < AT_ONCE; k++) {
            int i = first + k * blockDim.x;

            if (i < n) to[i] = v[k];
        }
    }
}

/* The same for rows, each by one warp: to[place(row) + w] = from(row, w), w < width. */
template <typename Place, typename F>
__device__ static inline void fire_small_rows(int rows, int width, float *to,
                                              Place place, F from)
{
    enum { AT_ONCE = 8 };
    int step = blockDim.x / 32;

    for (int w = threadIdx.x % 32; w < width; w += 32)
        for (int first = threadIdx.x / 32; first < rows; first += AT_ONCE * step) {
            float v[AT_ONCE];

#pragma unroll
            for (int k = 0; k < AT_ONCE; k++)
                v[k] = first + k * step < rows ? from(first + k * step, w) : 0.0f;
#pragma unroll
            for (int k = 0; k < AT_ONCE; k++)
                if (first + k * step < rows) to[place(first + k * step) + w] = v[k];
        }
}

/* Load planes of x into shared memory, with zeros around them. */
__device__ static inline void fire_small_load(const fire_small_plan_t &p,
                                              const float *x, int planes, float *to)
{
    int height = p.c.from[0], width = p.c.from[1];

    fire_small_rows(
        planes * p.padded, p.row, to,
        [&](int i) {
            int c = (int)fire_divide_short(i, p.by_padded);

            return c * p.plane + (i - c * p.padded) * p.row;
        },
        [&](int i, int w) {
            int c = (int)fire_divide_short(i, p.by_padded);
            int h = i - c * p.padded - p.c.pad[0], at = w - p.c.pad[1];

            return h >= 0 && h < height && at >= 0 && at < width
                       ? x[(c * height + h) * width + at]
                       : 0.0f;
        });
}

/* N neighbours loaded 16 bytes at a time; from: aligned to 16 bytes. */
template <int N> struct fire_strip {
    float v[(N + 3) / 4 * 4];

    __device__ fire_strip(const float *from)
    {
#pragma unroll
        for (int i = 0; i < N; i += 4) {
            fire_raw<4, float> four = fire_raw_load<4>(from, i);

#pragma unroll
            for (int k = 0; k < 4; k++)
                v[i + k] = four.v[k];
        }
    }
};

/* Add v[0 ... N - 1] over groups of `split` neighbouring threads, a power of two; all
 * of a group get the sums. */
template <int N> __device__ static inline void fire_small_sum(int split, float *v)
{
    for (int lane = split / 2; lane > 0; lane /= 2)
#pragma unroll
        for (int i = 0; i < N; i++)
            v[i] += __shfl_xor_sync(0xffffffffu, v[i], lane);
}

/* Compile a statement for each K (3, 5) and WIDE (12, 8), and run the right one. */
#define FIRE_SMALL_DISPATCH(c, K, WIDE, ...)           \
    if ((c)->kernel == 3) {                            \
        constexpr int K = 3;                           \
        FIRE_SMALL_DISPATCH_WIDE(c, WIDE, __VA_ARGS__) \
    } else {                                           \
        constexpr int K = 5;                           \
        FIRE_SMALL_DISPATCH_WIDE(c, WIDE, __VA_ARGS__) \
    }
#define FIRE_SMALL_DISPATCH_WIDE(c, WIDE, ...) \
    if (fire_small_wide((c)->to[1]) == 12) {   \
        constexpr int WIDE = 12;               \
        __VA_ARGS__;                           \
    } else {                                   \
        constexpr int WIDE = 8;                \
        __VA_ARGS__;                           \
    }
#endif
