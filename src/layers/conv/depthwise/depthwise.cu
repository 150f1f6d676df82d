/* depthwise.cu - Convolution's kernel "direct" on the GPU: depthwise convolution of two
 * axes in float32, where every output channel reads one input channel: too little work
 * per value for matrix products. A thread makes one element of y or of dx, with all its
 * taps; a gradient of a weight is a sum over images and places, by a block
 * (fire_sum_rows()). */
#include "layers/epilogue.h"
#include "device/cuda/kernel/each.h"
#include "layers/conv/conv.h"

static const char *depthwise_cuda_declines(const fire_layer_t *l)
{
    const fire_conv_t *c = (const fire_conv_t *)l->state;

    if (c->image.channels != c->group) return "needs one input channel per group";
    if (c->group == 1) return "needs more than one group";
    if (c->window.axes != 2) return "needs two spatial axes";
    return l->ctx->precision != FIRE_F32 || l->ctx->tf32 ? "needs float32" : NULL;
}

/* Passed to kernels by value. Arrays are plain: x (images, group, in), y (images, group
 * * copies, out), weights (group * copies, kernel). */
struct depthwise {
    int64_t images, group, copies; /* copies: output channels of an input channel */
    int     in[2], out[2], kernel[2], stride[2], pad[2], dilation[2];
};

static depthwise describe(const fire_layer_t *l)
{
    const fire_conv_t *c = (const fire_conv_t *)l->state;
    depthwise          d;

    d.images = c->images;
    d.group  = c->group;
    d.copies = c->map.channels / c->group;
    for (int i = 0; i < 2; i++) {
        d.in[i]       = (int)c->image.dim[i];
        d.out[i]      = (int)c->map.dim[i];
        d.kernel[i]   = (int)c->window.kernel[i];
        d.stride[i]   = (int)c->window.stride[i];
        d.pad[i]      = (int)c->window.pad[i];
        d.dilation[i] = (int)c->window.dilation[i];
    }
    return d;
}

/* Along one axis, the place of the image that place `at` of the map reads through tap
 * `tap`; -1: padding. And the place of the map that reads place `at` of the image; -1:
 * none. */
__device__ static int image_place(const depthwise &d, int axis, int at, int tap)
{
    int x = at * d.stride[axis] - d.pad[axis] + tap * d.dilation[axis];

    return x >= 0 && x < d.in[axis] ? x : -1;
}

__device__ static int map_place(const depthwise &d, int axis, int at, int tap)
{
    int x = at + d.pad[axis] - tap * d.dilation[axis];

    return x >= 0 && x % d.stride[axis] == 0 && x / d.stride[axis] < d.out[axis]
               ? x / d.stride[axis]
               : -1;
}

static fire_status_t to_map(fire_stream_t *s, depthwise d, const float *x,
                            const float *weights, const float *bias, float *y)
{
    int64_t plane = d.in[0] * d.in[1], places = d.out[0] * d.out[1];
    int64_t channels = d.group * d.copies, taps = d.kernel[0] * d.kernel[1];

    return fire_each(s, d.images * channels * places, [=] __device__(int64_t i) {
        int          h = (int)(i % places) / d.out[1], w = (int)(i % places) % d.out[1];
        int64_t      c    = i / places % channels;
        const float *from = x + i / places / d.copies * plane;
        float        sum  = 0;

        for (int a = 0; a < d.kernel[0]; a++)
            for (int b = 0; b < d.kernel[1]; b++) {
                int row = image_place(d, 0, h, a), column = image_place(d, 1, w, b);

                if (row >= 0 && column >= 0)
                    sum += weights[c * taps + a * d.kernel[1] + b] *
                           from[row * d.in[1] + column];
            }
        y[i] = bias != NULL ? sum + bias[c] : sum;
    });
}

static fire_status_t to_image(fire_stream_t *s, depthwise d, const float *dy,
                              const float *weights, float *dx)
{
    int64_t plane = d.in[0] * d.in[1], places = d.out[0] * d.out[1];
    int64_t taps = d.kernel[0] * d.kernel[1];

    return fire_each(s, d.images * d.group * plane, [=] __device__(int64_t i) {
        int     h = (int)(i % plane) / d.in[1], w = (int)(i % plane) % d.in[1];
        int64_t first = i / plane * d.copies; /* channel of the batch's maps */
        float   sum   = 0;

        for (int64_t k = first; k < first + d.copies; k++)
            for (int a = 0; a < d.kernel[0]; a++)
                for (int b = 0; b < d.kernel[1]; b++) {
                    int row = map_place(d, 0, h, a), column = map_place(d, 1, w, b);

                    if (row >= 0 && column >= 0)
                        sum += weights[k % (d.group * d.copies) * taps +
                                       a * d.kernel[1] + b] *
                               dy[k * places + row * d.out[1] + column];
                }
        dx[i] = sum;
    });
}

/* dw += the gradient of the weights. */
static fire_status_t to_weights(fire_stream_t *s, depthwise d, const float *x,
                                const float *dy, float *dw)
{
    int64_t plane = d.in[0] * d.in[1], places = d.out[0] * d.out[1];
    int64_t channels = d.group * d.copies, taps = d.kernel[0] * d.kernel[1];

    return fire_sum_rows<1>(
        s, channels * taps, d.images * places,
        [=] __device__(int64_t weight, int64_t j, float *sum) {
            int64_t map = j / places * channels + weight / taps;
            int     tap = (int)(weight % taps), place = (int)(j % places);
            int     row    = image_place(d, 0, place / d.out[1], tap / d.kernel[1]);
            int     column = image_place(d, 1, place % d.out[1], tap % d.kernel[1]);

            if (row >= 0 && column >= 0)
                *sum += dy[map * places + place] *
                        x[map / d.copies * plane + row * d.in[1] + column];
        },
        [=] __device__(int64_t weight, const float *sum) { dw[weight] += *sum; });
}

static fire_status_t depthwise_cuda_forward(fire_layer_t *l)
{
    const fire_conv_t *c = (const fire_conv_t *)l->state;
    const float       *weights, *bias = NULL, *x;
    float             *y;

    FIRE_IN(l, l->blob[0], FIRE_DATA, &weights);
    if (c->bias) FIRE_IN(l, l->blob[1], FIRE_DATA, &bias);
    for (int k = 0; k < l->nbottom; k++) {
        FIRE_IN(l, l->bottom[k], FIRE_DATA, &x);
        FIRE_OUT(l, l->top[k], FIRE_DATA, &y);
        FIRE_TRY(to_map(l->ctx->stream, describe(l), x, weights, bias, y));
    }
    return FIRE_OK;
}

static fire_status_t depthwise_cuda_backward(fire_layer_t *l)
{
    const fire_conv_t *c     = (const fire_conv_t *)l->state;
    fire_gpu_view_t    view  = {c->images, c->map.channels, c->map.plane};
    fire_format_t      plain = FIRE_FORMAT_PLAIN(FIRE_GPU);
    fire_stream_t     *s     = l->ctx->stream;
    const float       *weights, *x, *dy;
    float             *dx, *dw;

    FIRE_IN(l, l->blob[0], FIRE_DATA, &weights);
    for (int k = 0; k < l->ntop; k++) {
        FIRE_TRY(fire_gpu_epilogue_backward(l, k, view, &plain, c->bias, (void **)&dy));
        if (l->param_gradient[0]) {
            FIRE_IN(l, l->bottom[k], FIRE_DATA, &x);
            FIRE_INOUT(l, l->blob[0], FIRE_DIFF, &dw);
            FIRE_TRY(to_weights(s, describe(l), x, dy, dw));
        }
        if (!l->propagate_down[k]) continue;
        FIRE_OUT(l, l->bottom[k], FIRE_DIFF, &dx);
        FIRE_TRY(to_image(s, describe(l), dy, weights, dx));
    }
    return FIRE_OK;
}

extern "C" const fire_kernel_t fire_depthwise_cuda = {
    "direct", FIRE_GPU, depthwise_cuda_forward, depthwise_cuda_backward,
    depthwise_cuda_declines};
