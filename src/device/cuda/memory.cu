/* memory.cu - float32 arithmetic that needs no layer. */
#include "device/cuda/launch.h"

__global__ static void fill(int64_t n, float value, float *dst)
{
    FIRE_GRID_STRIDE (i, n)
        dst[i] = value;
}

__global__ static void add_left(int64_t n, const float *left, float *dst)
{
    FIRE_GRID_STRIDE (i, n)
        dst[i] = left[i] + dst[i];
}

__global__ static void add_scaled(int64_t n, float a, const float *src, float *dst)
{
    FIRE_GRID_STRIDE (i, n)
        dst[i] += a * src[i];
}

/* A loss is one number; the loop is for those who give weights to whole blobs. */
__global__ static void fold_scaled(int64_t n, float a, const float *src, float *dst)
{
    float sum = *dst;

    for (int64_t i = 0; i < n; i++)
        sum += a * src[i];
    *dst = sum;
}

fire_status_t fire_cuda_fill(float *dst, float value, int64_t n)
{
    if (n == 0) return FIRE_OK;
    return FIRE_LAUNCH_ON(fire_cuda_queue(), fire_cuda_grid(NULL, n), FIRE_CUDA_BLOCK,
                          fill, n, value, dst);
}

fire_status_t fire_cuda_add_left(float *dst, const float *left, int64_t n)
{
    if (n == 0) return FIRE_OK;
    return FIRE_LAUNCH_ON(fire_cuda_queue(), fire_cuda_grid(NULL, n), FIRE_CUDA_BLOCK,
                          add_left, n, left, dst);
}

fire_status_t fire_cuda_add_scaled(float *dst, float a, const float *src, int64_t n,
                                   bool fold)
{
    if (n == 0) return FIRE_OK;
    if (fold)
        return FIRE_LAUNCH_ON(fire_cuda_queue(), 1, 1, fold_scaled, n, a, src, dst);
    return FIRE_LAUNCH_ON(fire_cuda_queue(), fire_cuda_grid(NULL, n), FIRE_CUDA_BLOCK,
                          add_scaled, n, a, src, dst);
}

__global__ static void set_step(fire_cuda_live_t live, uint64_t step)
{
    *live.step = step;
}

__global__ static void set_rate(fire_cuda_live_t live, float rate, float correction)
{
    *live.rate       = rate;
    *live.correction = correction;
}

fire_status_t fire_gpu_set_step(fire_stream_t *s, int64_t step)
{
    return FIRE_LAUNCH_GRID(s, 1, 1, set_step, s->live, (uint64_t)step);
}

fire_status_t fire_gpu_set_rate(fire_stream_t *s, float rate, float correction)
{
    return FIRE_LAUNCH_GRID(s, 1, 1, set_rate, s->live, rate, correction);
}
