/* small_cuda.c - Convolution's kernel "small", for small images of few channels in
 * float32, as in LeNet. Where both gradients are wanted, that of the weights runs on
 * the side queue. */
#include "layers/conv/small/small.h"

#include "device/cuda/kernel/channel_sum.h"
#include "layers/epilogue.h"
#include "layers/conv/conv.h"

/* Limits of size: beyond them library kernels are faster. */
static bool is_small(const fire_conv_t *c)
{
    enum { LONGEST = 32, CHANNELS = 4, COLUMNS = 4 << 20, IMAGES = 65535 };

    for (int i = 0; i < 2; i++)
        if (c->map.dim[i] > LONGEST || c->image.dim[i] > LONGEST) return false;
    return c->images <= IMAGES && c->image.channels <= CHANNELS &&
           c->images * c->kernel_dim * c->map.plane <= COLUMNS;
}

static const char *conv_small_declines(const fire_layer_t *l)
{
    const fire_conv_t *c = FIRE_STATE(l, fire_conv_t);
    int64_t            k = c->window.kernel[0];

    if (l->ctx->precision != FIRE_F32 || l->ctx->tf32) return "needs float32";
    if (c->axis != 1 || c->window.axes != 2 || c->group != 1)
        return "needs two spatial axes and one group";
    if (fire_blob_count(l->bottom[0]) == 0) return "the input is empty";
    if (k != 3 && k != 5) return "needs 3x3 or 5x5 windows";
    for (int i = 0; i < 2; i++)
        if (c->window.kernel[i] != k || c->window.stride[i] != 1 ||
            c->window.dilation[i] != 1 || c->window.pad[i] >= k)
            return "needs square windows with stride 1";
    return is_small(c) ? NULL : "needs small images of few channels";
}

static bool conv_small_absorbs(const fire_layer_t *l, const fire_layer_t *next)
{
    return fire_gpu_epilogue_absorbs(l, next);
}

static fire_gpu_small_t shape_of(const fire_layer_t *l)
{
    const fire_conv_t *c = FIRE_STATE(l, fire_conv_t);
    fire_gpu_small_t   s = {.images = (int)c->images,
                            .in     = (int)c->image.channels,
                            .out    = (int)c->map.channels,
                            .kernel = (int)c->window.kernel[0],
                            .relu   = l->fusion.nfollower > 0};

    for (int i = 0; i < 2; i++) {
        s.from[i] = (int)c->image.dim[i];
        s.to[i]   = (int)c->map.dim[i];
        s.pad[i]  = (int)c->window.pad[i];
    }
    return s;
}

/* The convolution from dy to dx. */
static fire_gpu_small_t reverse_of(const fire_layer_t *l)
{
    fire_gpu_small_t s = shape_of(l), r = s;

    r.in   = s.out;
    r.out  = s.in;
    r.relu = false;
    for (int i = 0; i < 2; i++) {
        r.from[i] = s.to[i];
        r.to[i]   = s.from[i];
        r.pad[i]  = s.kernel - 1 - s.pad[i];
    }
    return r;
}

static fire_status_t conv_small_forward(fire_layer_t *l)
{
    fire_gpu_small_t s = shape_of(l);
    const float     *weights, *bias = NULL, *x;
    float           *y;

    FIRE_IN(l, l->blob[0], FIRE_DATA, &weights);
    if (FIRE_STATE(l, fire_conv_t)->bias) FIRE_IN(l, l->blob[1], FIRE_DATA, &bias);
    for (int k = 0; k < l->nbottom; k++) {
        FIRE_IN(l, l->bottom[k], FIRE_DATA, &x);
        FIRE_OUT(l, l->top[k], FIRE_DATA, &y);
        FIRE_TRY(fire_gpu_small_run(l->ctx->stream, &s, false, x, weights, bias, y));
    }
    return FIRE_OK;
}

/* dy: the gradient before an absorbed ReLU. The bias's gradient is computed together
 * with that of the weights unless the ReLU's pass over dy already sums it. */
static fire_status_t backward_pair(fire_layer_t *l, int k)
{
    const fire_conv_t *c = FIRE_STATE(l, fire_conv_t);
    fire_gpu_small_t   s = shape_of(l), r = reverse_of(l);
    fire_gpu_view_t    view  = {c->images, c->map.channels, c->map.plane};
    fire_format_t      plain = FIRE_FORMAT_PLAIN(FIRE_GPU);
    bool apart      = l->fusion.nfollower > 0 || !l->param_gradient[0]; /* the bias's */
    bool side_queue = l->param_gradient[0] && l->propagate_down[k];
    fire_stream_t *queue = l->ctx->stream;
    const float   *weights, *x, *dy;
    float         *dx;
    fire_status_t  st;

    fire_gpu_small_to_t to = {0};

    FIRE_TRY(
        fire_gpu_epilogue_backward(l, k, view, &plain, c->bias && apart, (void **)&dy));
    if (l->param_gradient[0]) {
        FIRE_IN(l, l->bottom[k], FIRE_DATA, &x);
        FIRE_TRY(fire_gpu_gradient(l->blob[0], &to.add_weights, &to.weights));
        if (c->bias && !apart && l->param_gradient[1])
            FIRE_TRY(fire_gpu_gradient(l->blob[1], &to.add_bias, &to.bias));
        if (side_queue) FIRE_TRY(fire_cuda_side_queue_begin(queue));
        st = fire_gpu_small_weights(queue, &s, x, dy, &to);
        FIRE_TRY(side_queue ? fire_cuda_side_queue_end(queue, st) : st);
    }
    if (!l->propagate_down[k]) return FIRE_OK;
    FIRE_IN(l, l->blob[0], FIRE_DATA, &weights);
    FIRE_OUT(l, l->bottom[k], FIRE_DIFF, &dx);
    FIRE_TRY(fire_gpu_small_run(queue, &r, true, dy, weights, NULL, dx));
    return side_queue ? fire_cuda_side_queue_join(queue) : FIRE_OK;
}

static fire_status_t conv_small_backward(fire_layer_t *l)
{
    for (int k = 0; k < l->ntop; k++)
        FIRE_TRY(backward_pair(l, k));
    return FIRE_OK;
}

static const fire_fusion_ops_t conv_small_fusion = {
    .absorbs = conv_small_absorbs,
};

const fire_kernel_t fire_conv_small = {
    .name     = "small",
    .where    = FIRE_GPU,
    .declines = conv_small_declines,
    .forward  = conv_small_forward,
    .backward = conv_small_backward,
    .fusion   = &conv_small_fusion,
};
