/* convert.cu - copies between formats of the GPU: number formats, NCHW <-> NHWC (a
 * transpose of channels and places, for each image), and even rows and columns ->
 * all. */
#include "device/cuda/launch.h"

/* Transposing tile by tile in shared memory, so that both arrays are accessed in
 * rows. */
enum { TILE = 32, TILE_ROWS = 8 };

template <typename To, typename From>
__global__ static void cast(int64_t n, const From *src, To *dst)
{
    FIRE_GRID_STRIDE (i, n)
        dst[i] = (To)(float)src[i];
}

/* (z, a, b) -> (z, b, a). A block of TILE x TILE_ROWS threads moves a tile of TILE x
 * TILE per turn; one column of padding keeps its columns in different banks. */
template <typename To, typename From>
__global__ static void transpose(int64_t a, int64_t b, int64_t tiles_a, int64_t tiles_b,
                                 int64_t tiles, const From *src, To *dst)
{
    __shared__ float tile[TILE][TILE + 1];

    for (int64_t t = blockIdx.x; t < tiles; t += gridDim.x) {
        int64_t z = t / (tiles_a * tiles_b), y = t / tiles_b % tiles_a, x = t % tiles_b;
        int64_t row = y * TILE, column = x * TILE;

        for (int i = threadIdx.y; i < TILE; i += TILE_ROWS)
            if (row + i < a && column + threadIdx.x < b)
                tile[i][threadIdx.x] =
                    (float)src[(z * a + row + i) * b + column + threadIdx.x];
        __syncthreads();
        for (int i = threadIdx.y; i < TILE; i += TILE_ROWS)
            if (column + i < b && row + threadIdx.x < a)
                dst[(z * b + column + i) * a + row + threadIdx.x] =
                    (To)tile[threadIdx.x][i];
        __syncthreads();
    }
}

/* The same where a or b is small, as the taps of a filter are: most of a tile would be
 * empty. A thread makes one element of dst. */
template <typename To, typename From>
__global__ static void transpose_small(int64_t n, unsigned a, unsigned b,
                                       const From *src, To *dst)
{
    FIRE_GRID_STRIDE (i, n) {
        unsigned inside = (unsigned)(i % (a * b)); /* of one matrix */

        dst[i] = (To)(float)src[i - inside + inside % a * b + inside / a];
    }
}

/* FIRE_EVEN to all rows and columns, zeros between. dst has n elements: (num, h, w, c)
 * if `last`, else (num, c, h, w). A thread makes one element of dst. */
typedef struct spread_job {
    int64_t n;
    bool    last;
    int64_t c, h, w;
} spread_job_t;

template <typename To, typename From>
__global__ static void spread(spread_job_t j, const From *src, To *dst)
{
    int64_t plane = j.h * j.w;

    FIRE_GRID_STRIDE (i, j.n) {
        int64_t image = i / (plane * j.c), inside = i % (plane * j.c);
        int64_t c  = j.last ? inside % j.c : inside / plane;
        int64_t at = j.last ? inside / j.c : inside % plane, y = at / j.w, x = at % j.w;
        int64_t rows = image * ((j.h + 1) / 2) + y / 2;
        bool    even = y % 2 == 0 && x % 2 == 0;

        dst[i] = even ? (To)(float)src[(rows * ((j.w + 1) / 2) + x / 2) * j.c + c]
                      : (To)0.0f;
    }
}

template <typename From>
static fire_status_t spread_to(fire_dtype_t to, const spread_job_t *j, const void *src,
                               void *dst)
{
    if (j->n == 0) return FIRE_OK;
    FIRE_WITH_TYPE(to, To,
                   return FIRE_LAUNCH_ON(fire_cuda_queue(), fire_cuda_grid(NULL, j->n),
                                         FIRE_CUDA_BLOCK, (spread<To, From>), *j,
                                         (const From *)src, (To *)dst))
    return FIRE_OK;
}

/* Copy n elements in order or, with `swap`, transpose z matrices of a x b. */
typedef struct job {
    bool    swap;
    int64_t n, z, a, b;
} job_t;

template <typename To, typename From>
static fire_status_t run(const job_t *j, const void *src, void *dst)
{
    int64_t tiles_a = (j->a + TILE - 1) / TILE, tiles_b = (j->b + TILE - 1) / TILE;
    int64_t tiles = j->z * tiles_a * tiles_b;

    if (j->n == 0) return FIRE_OK;
    if (!j->swap || j->a == 1 || j->b == 1)
        return FIRE_LAUNCH_ON(fire_cuda_queue(), fire_cuda_grid(NULL, j->n),
                              FIRE_CUDA_BLOCK, (cast<To, From>), j->n,
                              (const From *)src, (To *)dst);
    if ((j->a < TILE / 2 || j->b < TILE / 2) && j->a * j->b <= INT32_MAX)
        return FIRE_LAUNCH_ON(fire_cuda_queue(), fire_cuda_grid(NULL, j->n),
                              FIRE_CUDA_BLOCK, (transpose_small<To, From>), j->n,
                              (unsigned)j->a, (unsigned)j->b, (const From *)src,
                              (To *)dst);
    return FIRE_LAUNCH_ON(fire_cuda_queue(), (unsigned)(tiles < 65536 ? tiles : 65536),
                          dim3(TILE, TILE_ROWS), (transpose<To, From>), j->a, j->b,
                          tiles_a, tiles_b, tiles, (const From *)src, (To *)dst);
}

template <typename From>
static fire_status_t run_to(fire_dtype_t to, const job_t *j, const void *src, void *dst)
{
    FIRE_WITH_TYPE(to, To, return (run<To, From>(j, src, dst)))
    return FIRE_OK;
}

fire_status_t fire_cuda_convert(const fire_format_t *from, const void *src,
                                const fire_format_t *to, void *dst, int ndim,
                                const int64_t *dim)
{
    job_t j = {from->layout != to->layout, 1, 1, 1, 1};

    for (int i = 0; i < ndim; i++)
        j.n *= dim[i];
    if (to->layout == FIRE_EVEN)
        return FIRE_FAIL(FIRE_ERR_INVALID, "odd rows and columns would be lost");
    if (from->layout == FIRE_EVEN) {
        spread_job_t all = {j.n, to->layout == FIRE_NHWC, dim[1], dim[2], dim[3]};

        FIRE_WITH_TYPE(from->dtype, From,
                       return spread_to<From>(to->dtype, &all, src, dst))
    }
    if (j.swap && ndim != 4)
        return FIRE_FAIL(FIRE_ERR_INVALID, "channels-last needs 4 axes, not %d", ndim);
    if (j.swap) {
        int64_t plane = dim[2] * dim[3];

        j.z = dim[0];
        j.a = to->layout == FIRE_PLAIN ? plane : dim[1];
        j.b = to->layout == FIRE_PLAIN ? dim[1] : plane;
    }
    FIRE_WITH_TYPE(from->dtype, From, return run_to<From>(to->dtype, &j, src, dst))
    return FIRE_OK;
}
