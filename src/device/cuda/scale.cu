/* scale.cu - loss scaling for fp16, see gpu.h. The scale is in GPU memory, and kernels
 * decide whether to update: the host need not wait. */
#include "device/cuda/launch.h"

enum { GOOD_STEPS = 2000 }; /* finite steps before a larger scale is tried */

#define LEAST_SCALE 1.0f
#define MOST_SCALE  16777216.0f

__global__ static void set_scale(fire_cuda_step_state_t state, float scale, int good)
{
    *state.scale = scale;
    *state.good  = good;
    *state.skip  = 0;
}

__global__ static void multiply(int64_t n, const float *scale, bool inverse, float *x)
{
    float factor = inverse ? 1.0f / *scale : *scale; /* a power of two: exact */

    FIRE_GRID_STRIDE (i, n)
        x[i] *= factor;
}

__global__ static void clear_skip(fire_cuda_step_state_t state)
{
    *state.skip = 0;
}

/* Threads race, but all that write write the same value. */
__global__ static void find_overflow(int64_t n, const float *x,
                                     fire_cuda_step_state_t state)
{
    FIRE_GRID_STRIDE (i, n)
        if (!isfinite(x[i])) *state.skip = 1;
}

/* One thread. Halve after an overflow, double after GOOD_STEPS steps without. */
__global__ static void adjust_scale(fire_cuda_step_state_t state)
{
    if (*state.skip) {
        *state.scale = fmaxf(*state.scale / 2, LEAST_SCALE);
        *state.good  = 0;
    } else if (++*state.good >= GOOD_STEPS) {
        *state.scale = fminf(*state.scale * 2, MOST_SCALE);
        *state.good  = 0;
    }
}

fire_status_t fire_gpu_set_scale(fire_stream_t *s, float scale, int good)
{
    return FIRE_LAUNCH_GRID(s, 1, 1, set_scale, s->step_state, scale, good);
}

fire_status_t fire_gpu_get_scale(fire_stream_t *s, float *scale_p, int *good_p)
{
    FIRE_TRY(FIRE_CUDA(cudaMemcpyAsync(scale_p, s->step_state.scale, sizeof(*scale_p),
                                       cudaMemcpyDeviceToHost, s->main.stream)));
    FIRE_TRY(FIRE_CUDA(cudaMemcpyAsync(good_p, s->step_state.good, sizeof(*good_p),
                                       cudaMemcpyDeviceToHost, s->main.stream)));
    return fire_gpu_sync(s);
}

fire_status_t fire_gpu_scale(fire_stream_t *s, float *x, int64_t n)
{
    return FIRE_LAUNCH(s, n, multiply, n, s->step_state.scale, false, x);
}

fire_status_t fire_gpu_unscale(fire_stream_t *s, float *x, int64_t n)
{
    return FIRE_LAUNCH(s, n, multiply, n, s->step_state.scale, true, x);
}

fire_status_t fire_gpu_update_scale(fire_stream_t *s, const float *x, int64_t n)
{
    FIRE_TRY(FIRE_LAUNCH_GRID(s, 1, 1, clear_skip, s->step_state));
    FIRE_TRY(FIRE_LAUNCH(s, n, find_overflow, n, x, s->step_state));
    return FIRE_LAUNCH_GRID(s, 1, 1, adjust_scale, s->step_state);
}
