/* flow_warp.c - FlowWarp, of FlowNet2: each place takes its value from where the flow
 * points, between four elements; from outside of the image 0 or NaN.
 *
 *   bottom 0: (N, C, H, W) image      bottom 1: (N, 2, H, W) flow, across and down
 *   top 0:    (N, C, H, W) */
#include "layers/flow/flow_warp.h"

#include <math.h>

#include "device/cpu/parallel.h"

static fire_status_t flow_warp_reshape(fire_layer_t *l)
{
    const Caffe__FlowWarpParameter *p =
        FIRE_PARAM(l, flow_warp_param, CAFFE__FLOW_WARP_PARAMETER__INIT);
    fire_flow_warp_t  *s = FIRE_STATE(l, fire_flow_warp_t);
    const fire_blob_t *x = l->bottom[0], *flow = l->bottom[1];

    if (x->ndim != 4 || flow->ndim != 4 || flow->dim[0] != x->dim[0] ||
        flow->dim[1] != 2 || flow->dim[2] != x->dim[2] || flow->dim[3] != x->dim[3])
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "the bottoms must be an image (num, channels, height, width) "
                         "and a flow (num, 2, height, width)");
    *s = (fire_flow_warp_t){.items    = x->dim[0],
                            .channels = x->dim[1],
                            .height   = x->dim[2],
                            .width    = x->dim[3]};
    if (p->fill_value == CAFFE__FLOW_WARP_PARAMETER__FILL_PARAMETER__NOT_A_NUMBER)
        s->fill = NAN;
    return fire_layer_reshape_same(l);
}

static fire_status_t flow_warp_forward(fire_layer_t *l)
{
    const fire_flow_warp_t *s     = FIRE_STATE(l, fire_flow_warp_t);
    int64_t                 plane = s->height * s->width, c = s->channels;
    const float            *x, *flow;
    float                  *y;

    FIRE_IN(l, l->bottom[0], FIRE_DATA, &x);
    FIRE_IN(l, l->bottom[1], FIRE_DATA, &flow);
    FIRE_OUT(l, l->top[0], FIRE_DATA, &y);
    FIRE_IF_GPU(l, fire_gpu_flow_warp(l->ctx->stream, s, x, flow, y));
    FIRE_PARALLEL(k, s->items * c, s->items * c * plane > FIRE_GRAIN)
    for (int64_t i = 0; i < plane; i++)
        y[k * plane + i] = fire_flow_value(
            s, fire_flow_source(s, flow + k / c * 2 * plane, i), x + k * plane);
    return FIRE_OK;
}

static fire_status_t backward_image(fire_layer_t *l, const float *flow, const float *dy)
{
    const fire_flow_warp_t *s     = FIRE_STATE(l, fire_flow_warp_t);
    int64_t                 plane = s->height * s->width, c = s->channels;
    float                  *dx;

    if (!l->propagate_down[0]) return FIRE_OK;
    FIRE_OUT(l, l->bottom[0], FIRE_DIFF, &dx);
    FIRE_IF_GPU(l, fire_gpu_flow_warp_dx(l->ctx->stream, s, flow, dy, dx));
    FIRE_PARALLEL(k, s->items * c, s->items * c * plane > FIRE_GRAIN)
    fire_flow_spread(s, flow + k / c * 2 * plane, dy + k * plane, dx + k * plane);
    return FIRE_OK;
}

static fire_status_t flow_warp_backward(fire_layer_t *l)
{
    const fire_flow_warp_t *s     = FIRE_STATE(l, fire_flow_warp_t);
    int64_t                 plane = s->height * s->width, dim = s->channels * plane;
    const float            *x, *flow, *dy;
    float                  *dflow;

    FIRE_IN(l, l->bottom[0], FIRE_DATA, &x);
    FIRE_IN(l, l->bottom[1], FIRE_DATA, &flow);
    FIRE_IN(l, l->top[0], FIRE_DIFF, &dy);
    FIRE_TRY(backward_image(l, flow, dy));
    if (!l->propagate_down[1]) return FIRE_OK;
    FIRE_OUT(l, l->bottom[1], FIRE_DIFF, &dflow);
    FIRE_IF_GPU(l, fire_gpu_flow_warp_dflow(l->ctx->stream, s, flow, x, dy, dflow));
    FIRE_PARALLEL(i, s->items * plane, s->items * dim > FIRE_GRAIN)
    {
        int64_t item = i / plane;

        fire_flow_slope(s, flow + 2 * item * plane, x + item * dim, dy + item * dim,
                        dflow + 2 * item * plane, i % plane);
    }
    return FIRE_OK;
}

#ifdef FIRE_HAVE_CUDA
const fire_kernel_t fire_flow_warp_cuda = {
    .name     = "cuda",
    .where    = FIRE_GPU,
    .forward  = flow_warp_forward,
    .backward = flow_warp_backward,
};
#endif

const fire_kernel_t fire_flow_warp_ref = {
    .name     = "ref",
    .forward  = flow_warp_forward,
    .backward = flow_warp_backward,
};

static const fire_kernel_t *const flow_warp_kernels[] = {
    FIRE_IF_CUDA(fire_flow_warp_cuda) &fire_flow_warp_ref, NULL};

const fire_layer_ops_t fire_layer_flow_warp = {
    .type       = "FlowWarp",
    .bottoms    = {2, 2},
    .tops       = {1, 1},
    .state_size = sizeof(fire_flow_warp_t),
    .reshape    = flow_warp_reshape,
    .kernels    = flow_warp_kernels,
};
