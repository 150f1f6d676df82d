/* flow_warp.cu - FlowWarp on a GPU. The gradient of the image is added up by one thread
 * per plane: flows may point many places to one, and additions must keep their order. */
#include "layers/flow/flow_warp.h"

#include "device/cuda/kernel/each.h"

fire_status_t fire_gpu_flow_warp(fire_stream_t *s, const fire_flow_warp_t *warp,
                                 const float *x, const float *flow, float *y)
{
    fire_flow_warp_t p     = *warp;
    int64_t          plane = p.height * p.width;

    return fire_each(s, p.items * p.channels * plane, [=] __device__(int64_t i) {
        int64_t k = i / plane;

        y[i] = fire_flow_value(
            &p, fire_flow_source(&p, flow + k / p.channels * 2 * plane, i % plane),
            x + k * plane);
    });
}

fire_status_t fire_gpu_flow_warp_dx(fire_stream_t *s, const fire_flow_warp_t *warp,
                                    const float *flow, const float *dy, float *dx)
{
    fire_flow_warp_t p     = *warp;
    int64_t          plane = p.height * p.width;

    return fire_each(s, p.items * p.channels, [=] __device__(int64_t k) {
        fire_flow_spread(&p, flow + k / p.channels * 2 * plane, dy + k * plane,
                         dx + k * plane);
    });
}

fire_status_t fire_gpu_flow_warp_dflow(fire_stream_t *s, const fire_flow_warp_t *warp,
                                       const float *flow, const float *x,
                                       const float *dy, float *dflow)
{
    fire_flow_warp_t p     = *warp;
    int64_t          plane = p.height * p.width, dim = p.channels * plane;

    return fire_each(s, p.items * plane, [=] __device__(int64_t i) {
        int64_t item = i / plane;

        fire_flow_slope(&p, flow + 2 * item * plane, x + item * dim, dy + item * dim,
                        dflow + 2 * item * plane, i % plane);
    });
}
