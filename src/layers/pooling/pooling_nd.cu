/* pooling_nd.cu - Pooling over any number of axes on a GPU: a thread makes one output,
 * or one element of the gradient, in the order of the CPU. */
#include "layers/pooling/pool_nd.h"

#include "device/cuda/kernel/each.h"

fire_status_t fire_gpu_pool_nd(fire_stream_t *s, const fire_pool_nd_t *p,
                               int64_t planes, const float *x, float *y, int32_t *index,
                               float *mask)
{
    fire_pool_nd_t w = *p;

    return fire_each(s, planes * w.size_out, [=] __device__(int64_t i) {
        y[i] = fire_pool_nd_value(&w, x + i / w.size_out * w.size_in, i % w.size_out,
                                  &index[i]);
        if (mask != NULL) mask[i] = (float)index[i];
    });
}

fire_status_t fire_gpu_pool_nd_back(fire_stream_t *s, const fire_pool_nd_t *p,
                                    int64_t planes, const float *dy,
                                    const int32_t *index, float *dx)
{
    fire_pool_nd_t w = *p;

    return fire_each(s, planes * w.size_in, [=] __device__(int64_t i) {
        int64_t first = i / w.size_in * w.size_out;

        dx[i] = fire_pool_nd_gradient(&w, dy + first, index + first, i % w.size_in);
    });
}
