/* taps.cu - resizing by tables of weights on a GPU: a thread per element. */
#include "layers/vision/resample/taps.h"

#include "device/cuda/kernel/each.h"

fire_status_t fire_gpu_taps(fire_stream_t *s, const fire_taps_t *t, const void *tables,
                            bool back, const float *x, float *y)
{
    const int32_t   *words   = (const int32_t *)tables;
    const float     *weight  = (const float *)tables;
    fire_tap_table_t rows    = back ? t->back[0] : t->from[0];
    fire_tap_table_t columns = back ? t->back[1] : t->from[1];
    int64_t          width   = back ? t->out[1] : t->in[1];
    int64_t          from    = back ? t->out[0] * t->out[1] : t->in[0] * t->in[1];
    int64_t          to      = back ? t->in[0] * t->in[1] : t->out[0] * t->out[1];
    int64_t          n       = back ? t->in[1] : t->out[1];

    return fire_each(s, t->planes * to, [=] __device__(int64_t i) {
        int64_t h = i % to / n, w = i % n;
        float   sum = 0.0f;

        for (int64_t r = words[rows.first + h]; r < words[rows.first + h + 1]; r++) {
            const float *row  = x + i / to * from + words[rows.index + r] * width;
            float        part = 0.0f;

            for (int64_t k = words[columns.first + w]; k < words[columns.first + w + 1];
                 k++)
                part += weight[columns.weight + k] * row[words[columns.index + k]];
            sum += weight[rows.weight + r] * part;
        }
        y[i] = sum;
    });
}
