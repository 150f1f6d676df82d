/* memory.cu - float32 arithmetic of the device's table, the sum of losses, and the
 * kernels that set the step state. A thread makes one element per turn. */
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

fire_status_t fire_cuda_add_scaled(float *dst, float a, const float *src, int64_t n)
{
    if (n == 0) return FIRE_OK;
    return FIRE_LAUNCH_ON(fire_cuda_queue(), fire_cuda_grid(NULL, n), FIRE_CUDA_BLOCK,
                          add_scaled, n, a, src, dst);
}

/* Passed by value, which saves a copy to the GPU. */
typedef struct terms {
    int             n;
    fire_gpu_term_t term[FIRE_GPU_TERMS];
} terms_t;

/* One block, so that terms are added in order. With `sum`, thread 0 alone adds the n
 * elements one by one: n is 1 but for losses that are whole blobs. */
__global__ static void add_terms(const terms_t t, int clear, float *dst)
{
    for (int i = threadIdx.x; i < clear; i += blockDim.x)
        dst[i] = 0;
    __syncthreads();
    for (int k = 0; k < t.n; k++) {
        fire_gpu_term_t term = t.term[k];
        int             step = term.sum ? 1 : blockDim.x;

        if (term.sum && threadIdx.x > 0) continue;
        for (int64_t i = threadIdx.x; i < term.n; i += step)
            dst[term.at + (term.sum ? 0 : i)] += term.a * term.src[i];
    }
}

/* Terms are cut into launches of FIRE_GPU_TERMS; only the first one clears. */
fire_status_t fire_gpu_add_terms(fire_stream_t *s, float *dst, int64_t clear,
                                 const fire_gpu_term_t *term, int n)
{
    terms_t t = {};

    for (int at = 0; at < n || clear > 0; at += t.n, clear = 0) {
        t.n = n - at < FIRE_GPU_TERMS ? n - at : FIRE_GPU_TERMS;
        for (int i = 0; i < t.n; i++)
            t.term[i] = term[at + i];
        FIRE_TRY(
            FIRE_LAUNCH_GRID(s, 1, FIRE_CUDA_BLOCK, add_terms, t, (int)clear, dst));
    }
    return FIRE_OK;
}

__global__ static void set_step(fire_cuda_step_state_t state, uint64_t step)
{
    *state.step = step;
}

__global__ static void set_rate(fire_cuda_step_state_t state, float rate,
                                float correction)
{
    *state.rate       = rate;
    *state.correction = correction;
}

fire_status_t fire_gpu_set_step(fire_stream_t *s, int64_t step)
{
    return FIRE_LAUNCH_GRID(s, 1, 1, set_step, s->step_state, (uint64_t)step);
}

fire_status_t fire_gpu_set_rate(fire_stream_t *s, float rate, float correction)
{
    return FIRE_LAUNCH_GRID(s, 1, 1, set_rate, s->step_state, rate, correction);
}
