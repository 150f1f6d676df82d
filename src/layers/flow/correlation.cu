/* correlation.cu - Correlation on a GPU: a thread makes one element, in the order of the
 * CPU. */
#include "layers/flow/correlation.h"

#include "device/cuda/kernel/each.h"

fire_status_t fire_gpu_correlation(fire_stream_t *s, const fire_correlation_t *p,
                                   int64_t items, const float *a, const float *b,
                                   float *y)
{
    fire_correlation_t c   = *p;
    int64_t            n   = c.grid[0] * c.grid[1] * c.out[0] * c.out[1];
    int64_t            dim = c.channels * c.in[0] * c.in[1];

    return fire_each(s, items * n, [=] __device__(int64_t i) {
        y[i] = fire_corr_value(&c, a + i / n * dim, b + i / n * dim, i % n);
    });
}

fire_status_t fire_gpu_correlation_back(fire_stream_t *s, const fire_correlation_t *p,
                                        int64_t items, bool second, const float *mine,
                                        const float *other, const float *dy, float *dx)
{
    fire_correlation_t c   = *p;
    int64_t            n   = c.grid[0] * c.grid[1] * c.out[0] * c.out[1];
    int64_t            dim = c.channels * c.in[0] * c.in[1];

    return fire_each(s, items * dim, [=] __device__(int64_t i) {
        dx[i] = fire_corr_gradient(&c, second, mine + i / dim * dim,
                                   other + i / dim * dim, dy + i / dim * n, i % dim);
    });
}
