/* each.h - kernels from lambdas: a function called for every index, and sums over the
 * rows of a matrix.
 *
 *     fire_each(s, n, [=] __device__(int64_t i) { y[i] = 2 * x[i]; });
 *
 * The order of a sum depends on the sizes alone: the same bits on every run and GPU. */
#ifndef FIRE_DEVICE_CUDA_KERNEL_EACH_H
#define FIRE_DEVICE_CUDA_KERNEL_EACH_H
#include "device/cuda/kernel/block.h"

template <typename F> __global__ static void fire_each_kernel(int64_t n, F f)
{
    FIRE_GRID_STRIDE (i, n)
        f(i);
}

/* f(i) for 0 <= i < n */
template <typename F> static fire_status_t fire_each(fire_stream_t *s, int64_t n, F f)
{
    return FIRE_LAUNCH(s, n, fire_each_kernel<F>, n, f);
}

/* ---- sums over rows ---- */

enum {
    FIRE_SUM_PART   = 8192,
    FIRE_SUM_BLOCKS = 1024
}; /* elements worth a block of their own; most blocks */

/* A block sums part blockIdx.y (of `step` elements) of row blockIdx.x. With one part it
 * calls done(); else it leaves K sums in partial (row, part, K). */
template <int K, typename Add, typename Done>
__global__ static void fire_sum_parts(int64_t n, int64_t step, Add add, Done done,
                                      float *partial)
{
    int64_t row = blockIdx.x, end = (blockIdx.y + 1) * step;
    float   sum[K] = {0};

    if (end > n) end = n;
    for (int64_t j = blockIdx.y * step + threadIdx.x; j < end; j += blockDim.x)
        add(row, j, sum);
    for (int k = 0; k < K; k++)
        sum[k] = fire_block_sum(sum[k]);
    if (threadIdx.x != 0) return;
    if (partial == nullptr) return done(row, sum);
    for (int k = 0; k < K; k++)
        partial[(row * gridDim.y + blockIdx.y) * K + k] = sum[k];
}

/* A thread adds the partial sums of one row, in order. */
template <int K, typename Done>
__global__ static void fire_sum_finish(int64_t rows, int64_t parts,
                                       const float *partial, Done done)
{
    FIRE_GRID_STRIDE (row, rows) {
        float sum[K] = {0};

        for (int64_t i = 0; i < parts * K; i++)
            sum[i % K] += partial[row * parts * K + i];
        done(row, sum);
    }
}

/* For each row: call add(row, j, sum) for all j < n, which adds to the K sums, then
 * done(row, sum) once. Neighbouring threads have neighbouring j, which should be
 * neighbours in memory. Long rows are cut into parts where rows alone would not fill
 * the GPU. */
template <int K, typename Add, typename Done>
static fire_status_t fire_sum_rows(fire_stream_t *s, int64_t rows, int64_t n, Add add,
                                   Done done)
{
    int64_t parts = n / FIRE_SUM_PART + 1, most = FIRE_SUM_BLOCKS / (rows + 1);
    int64_t step;
    void   *partial = NULL;

    if (rows == 0) return FIRE_OK;
    if (parts > most + 1) parts = most + 1;
    step = (n + parts - 1) / parts;
    if (parts > 1)
        FIRE_TRY(fire_cuda_workspace(s, (size_t)(rows * parts) * K * sizeof(float),
                                     &partial));
    FIRE_TRY(FIRE_LAUNCH_GRID(s, dim3((unsigned)rows, (unsigned)parts), FIRE_CUDA_BLOCK,
                              (fire_sum_parts<K, Add, Done>), n, step, add, done,
                              (float *)partial));
    if (parts == 1) return FIRE_OK;
    return FIRE_LAUNCH(s, rows, (fire_sum_finish<K, Done>), rows, parts,
                       (const float *)partial, done);
}

/* The same with one thread for each row: for short rows, and for rows whose elements j
 * are interleaved in memory. */
template <int K, typename Add, typename Done>
static fire_status_t fire_sum_columns(fire_stream_t *s, int64_t rows, int64_t n,
                                      Add add, Done done)
{
    return fire_each(s, rows, [=] __device__(int64_t row) {
        float sum[K] = {0};

        for (int64_t j = 0; j < n; j++)
            add(row, j, sum);
        done(row, sum);
    });
}
#endif
