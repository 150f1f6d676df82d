/* scale.cu - the scale of fp16's gradients, see gpu.h. */
#include "device/cuda/launch.h"

enum { GOOD_STEPS = 2000 }; /* before a larger scale is tried */

#define LEAST_SCALE 1.0f
#define MOST_SCALE  16777216.0f

__global__ static void set_scale(fire_cuda_live_t live, float scale, int good)
{
    *live.scale = scale;
    *live.good  = good;
    *live.skip  = 0;
}

__global__ static void multiply(int64_t n, const float *scale, bool inverse, float *x)
{
    float factor = inverse ? 1.0f / *scale : *scale; /* a power of two: exact */

    FIRE_GRID_STRIDE (i, n)
        x[i] *= factor;
}

__global__ static void forgive(fire_cuda_live_t live)
{
    *live.skip = 0;
}

/* All who write, write the same. */
__global__ static void look(int64_t n, const float *x, fire_cuda_live_t live)
{
    FIRE_GRID_STRIDE (i, n)
        if (!isfinite(x[i])) *live.skip = 1;
}

__global__ static void adjust(fire_cuda_live_t live)
{
    if (*live.skip) {
        *live.scale = fmaxf(*live.scale / 2, LEAST_SCALE);
        *live.good  = 0;
    } else if (++*live.good >= GOOD_STEPS) {
        *live.scale = fminf(*live.scale * 2, MOST_SCALE);
        *live.good  = 0;
    }
}

fire_status_t fire_gpu_set_scale(fire_stream_t *s, float scale, int good)
{
    return FIRE_LAUNCH_GRID(s, 1, 1, set_scale, s->live, scale, good);
}

fire_status_t fire_gpu_get_scale(fire_stream_t *s, float *scale_p, int *good_p)
{
    FIRE_TRY(FIRE_CUDA(cudaMemcpyAsync(scale_p, s->live.scale, sizeof(*scale_p),
                                       cudaMemcpyDeviceToHost, s->main.stream)));
    FIRE_TRY(FIRE_CUDA(cudaMemcpyAsync(good_p, s->live.good, sizeof(*good_p),
                                       cudaMemcpyDeviceToHost, s->main.stream)));
    return fire_gpu_sync(s);
}

fire_status_t fire_gpu_scale(fire_stream_t *s, float *x, int64_t n)
{
    return FIRE_LAUNCH(s, n, multiply, n, s->live.scale, false, x);
}

fire_status_t fire_gpu_unscale(fire_stream_t *s, float *x, int64_t n)
{
    return FIRE_LAUNCH(s, n, multiply, n, s->live.scale, true, x);
}

fire_status_t fire_gpu_judge(fire_stream_t *s, const float *x, int64_t n)
{
    FIRE_TRY(FIRE_LAUNCH_GRID(s, 1, 1, forgive, s->live));
    FIRE_TRY(FIRE_LAUNCH(s, n, look, n, x, s->live));
    return FIRE_LAUNCH_GRID(s, 1, 1, adjust, s->live);
}
