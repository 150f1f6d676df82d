/* pad.cu - Pad on a GPU: one thread per element of the output. */
#include "layers/shape/pad.h"

#include "device/cuda/kernel/each.h"

fire_status_t fire_gpu_pad(fire_stream_t *s, const fire_pad_t *p, const int64_t *table,
                           const float *x, float *y)
{
    fire_pad_t z = *p;

    return fire_each(s, z.items * z.to * z.block, [=] __device__(int64_t i) {
        int64_t row = i / z.block, source = table[row % z.to];

        y[i] = source < 0 ? z.value
                          : x[(row / z.to * z.from + source) * z.block + i % z.block];
    });
}

/* Gradients are added in the order of places, as on the CPU. */
fire_status_t fire_gpu_pad_back(fire_stream_t *s, const fire_pad_t *p,
                                const int64_t *table, const float *dy, float *dx)
{
    fire_pad_t     z     = *p;
    const int64_t *first = table + z.to, *place = first + z.from + 1;

    return fire_each(s, z.items * z.from * z.block, [=] __device__(int64_t i) {
        int64_t row = i / z.block, at = row % z.from, item = row / z.from;
        float   sum = 0.0f;

        for (int64_t k = first[at]; k < first[at + 1]; k++)
            sum += dy[(item * z.to + place[k]) * z.block + i % z.block];
        dx[i] = sum;
    });
}
