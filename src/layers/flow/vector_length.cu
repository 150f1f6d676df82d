/* vector_length.cu - ChannelNorm on a GPU. */
#include "layers/flow/vector_length.h"

#include "device/cuda/kernel/each.h"

fire_status_t fire_gpu_vector_length(fire_stream_t *s, int64_t items, int64_t channels,
                                     int64_t plane, const float *x, float *y)
{
    return fire_each(s, items * plane, [=] __device__(int64_t i) {
        const float *at  = x + i / plane * channels * plane + i % plane;
        float        sum = 0.0f;

        for (int64_t k = 0; k < channels; k++)
            sum += at[k * plane] * at[k * plane];
        y[i] = sqrtf(sum);
    });
}

fire_status_t fire_gpu_vector_length_dx(fire_stream_t *s, int64_t items,
                                        int64_t channels, int64_t plane, const float *x,
                                        const float *y, const float *dy, float *dx)
{
    return fire_each(s, items * channels * plane, [=] __device__(int64_t i) {
        int64_t at = i / (channels * plane) * plane + i % plane;

        dx[i] = y[at] > 0.0f ? dy[at] * x[i] / y[at] : 0.0f;
    });
}
