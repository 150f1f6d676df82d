/* mask_pooling.cu - GPU kernels of MaskPooling. */
#include "layers/vision/mask.h"

#include "device/cuda/kernel/each.h"

fire_status_t fire_gpu_mask(fire_stream_t *s, const fire_mask_t *mask, const float *x,
                            const float *weight, float *y)
{
    fire_mask_t m = *mask;

    return fire_each(s, m.items * m.channels * m.places, [=] __device__(int64_t i) {
        y[i] = x[i] * weight[i / m.places / m.channels * m.places + i % m.places];
    });
}

/* A thread per place sums over the channels. */
fire_status_t fire_gpu_mask_back(fire_stream_t *s, const fire_mask_t *mask,
                                 const float *x, const float *dy, float *dmask)
{
    fire_mask_t m = *mask;

    return fire_each(s, m.items * m.places, [=] __device__(int64_t i) {
        int64_t first = i / m.places * m.channels * m.places + i % m.places;
        float   sum   = 0;

        for (int64_t c = 0; c < m.channels; c++)
            sum += dy[first + c * m.places] * x[first + c * m.places];
        dmask[i] = sum;
    });
}
