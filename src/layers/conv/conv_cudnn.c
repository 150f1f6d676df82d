/* conv_cudnn.c - Convolution by cuDNN in the net's precision, with a ReLU that follows
 * in place. Operations are chosen when they first run: then their arrays have memory,
 * with which they can be measured. */
#include "device/cuda/cudnn/conv_cudnn.h"

#include <string.h>

#include "layers/epilogue.h"
#include "layers/conv/space_to_depth.h"
#include "layers/conv/weight_layout.h"
#include "layers/conv/conv.h"

/* Images have three channels, tensor cores need eight. Where the gradient of the input
 * is not wanted, input and weights are rearranged by space to depth
 * (space_to_depth.h). */
typedef struct conv_cudnn {
    const fire_cudnn_op_t    *op[FIRE_CUDNN_PASSES];
    bool                      even_only[FIRE_CUDNN_PASSES]; /* op reads FIRE_EVEN */
    bool                      to_depth;
    fire_gpu_space_to_depth_t image, filter;
    fire_blob_t              *x; /* rearranged input, from forward to backward; owned */
    fire_gpu_memory_t         w; /* rearranged weights, owned */
} conv_cudnn_t;

/* In float32 cuDNN's kernels take longer to start than so few products take
 * otherwise. */
static bool is_small(const fire_layer_t *l)
{
    const fire_conv_t *c = FIRE_STATE(l, fire_conv_t);

    return l->ctx->precision == FIRE_F32 && !l->ctx->tf32 &&
           c->images * c->group * c->kernel_dim * c->map.plane <= 4 << 20;
}

static const char *conv_cudnn_declines(const fire_layer_t *l)
{
    const fire_conv_t *c = FIRE_STATE(l, fire_conv_t);

    if (fire_blob_count(l->bottom[0]) == 0) return "the input is empty";
    if (c->axis != 1) return "channels are not axis 1";
    if (c->window.axes != 2) return "needs two spatial axes";
    if (is_small(l) && l->ctx->kernels == NULL) /* unless it was asked for */
        return "the convolution is small: a matrix product is faster";
    return fire_cudnn_is_available(l->ctx->stream) ? NULL
                                                   : "libcudnn.so.9 was not found";
}

static bool conv_cudnn_absorbs(const fire_layer_t *l, const fire_layer_t *next)
{
    return fire_gpu_epilogue_absorbs(l, next);
}

static unsigned conv_cudnn_backward_reads(const fire_layer_t *l)
{
    return fire_gpu_epilogue_backward_reads(l);
}

/* With stride 2 and one tap, odd rows and columns of the input are not read, and their
 * gradient is zero. */
static bool conv_cudnn_reads_even(const fire_layer_t *l)
{
    const fire_window_t *w = &FIRE_STATE(l, fire_conv_t)->window;
    bool skips = w->axes == 2 && fire_gpu_format(l, l->bottom[0]).layout == FIRE_NHWC;

    for (int i = 0; i < 2 && skips; i++)
        skips = w->kernel[i] == 1 && w->stride[i] == 2 && w->pad[i] == 0;
    return skips;
}

static void conv_cudnn_release(fire_layer_t *l)
{
    conv_cudnn_t *s = l->kernel_state;

    if (s == NULL) return;
    fire_blob_destroy(s->x);
    fire_gpu_memory_free(&s->w);
    fire_free(s);
    l->kernel_state = NULL;
}

static fire_status_t create_state(fire_layer_t *l)
{
    conv_cudnn_t *s;
    fire_status_t st;

    FIRE_TRY(FIRE_NEW(&s, 1));
    st = fire_blob_create(&s->x);
    if (st < 0) {
        fire_free(s);
        return st;
    }
    if (l->ctx->lean) fire_blob_use_pool(s->x, l->ctx->pool, false);
    l->kernel_state = s;
    return FIRE_OK;
}

static fire_status_t conv_cudnn_prepare(fire_layer_t *l)
{
    conv_cudnn_t *s = l->kernel_state;

    if (s == NULL) return create_state(l);
    memset(s->op, 0, sizeof(s->op));
    return FIRE_OK;
}

/* The factor of space to depth: the stride, if both axes are alike and the channels
 * stay few; else 1, which only pads the channels. */
static int factor_of(const fire_conv_t *c)
{
    enum { MOST_CHANNELS = 64 };
    const fire_window_t *w = &c->window;
    bool                 same =
        w->stride[0] == w->stride[1] && w->dilation[0] == 1 && w->dilation[1] == 1;

    return same && c->image.channels * w->stride[0] * w->stride[0] <= MOST_CHANNELS
               ? (int)w->stride[0]
               : 1;
}

static void plan_space_to_depth(fire_layer_t *l)
{
    const fire_conv_t   *c    = FIRE_STATE(l, fire_conv_t);
    const fire_window_t *w    = &c->window;
    conv_cudnn_t        *s    = l->kernel_state;
    fire_format_t        f    = fire_gpu_format(l, l->bottom[0]);
    int                  many = f.dtype == FIRE_F32 ? 4 : 8, by = factor_of(c);
    int                  channels = (int)c->image.channels;

    s->to_depth = f.layout == FIRE_NHWC && c->group == 1 && c->image.channels < many &&
                  !l->propagate_down[0] && l->nbottom == 1;
    if (!s->to_depth) return;
    s->filter       = (fire_gpu_space_to_depth_t){.rows     = c->map.channels,
                                                  .channels = channels,
                                                  .factor   = by,
                                                  .pitch    = channels * by * by};
    s->filter.pitch = (s->filter.pitch + many - 1) / many * many;
    s->image        = s->filter;
    s->image.rows   = c->images;
    for (int i = 0; i < 2; i++) {
        int size = (int)(w->kernel[i] + by - 1) / by;
        int step = (int)w->stride[i] / by;

        s->filter.in[i]    = (int)w->kernel[i];
        s->filter.out[i]   = size;
        s->image.in[i]     = (int)c->image.dim[i];
        s->image.before[i] = (int)w->pad[i];
        s->image.out[i] =
            ((int)c->map.dim[i] - 1) * step + (size - 1) * (int)w->dilation[i] + 1;
    }
}

/* Launches of a pass. A few groups of many channels are faster one after another, as
 * slices of the channels, than as grouped convolution of cuDNN. */
static int64_t group_runs(const fire_layer_t *l)
{
    const fire_conv_t *c    = FIRE_STATE(l, fire_conv_t);
    bool               last = fire_gpu_format(l, l->bottom[0]).layout == FIRE_NHWC;
    int64_t            in   = c->image.channels / c->group;
    int64_t            out  = c->map.channels / c->group;

    return last && c->group <= 4 && in % 8 == 0 && out % 8 == 0 ? c->group : 1;
}

/* even_only: x holds even rows and columns alone, so that stride 2 becomes stride 1. */
static void describe(const fire_layer_t *l, bool even_only, fire_cudnn_conv_t *d)
{
    const fire_conv_t  *c = FIRE_STATE(l, fire_conv_t);
    const conv_cudnn_t *s = l->kernel_state;
    fire_format_t       f = fire_gpu_format(l, l->bottom[0]);

    memset(d, 0, sizeof(*d));
    d->axes         = c->window.axes;
    d->num          = c->images;
    d->group        = c->group;
    d->in_channels  = s->to_depth ? s->image.pitch : c->image.channels;
    d->out_channels = c->map.channels;
    d->in_pitch     = d->in_channels;
    d->out_pitch    = d->out_channels;
    if (group_runs(l) > 1) {
        d->group = 1;
        d->in_channels /= c->group;
        d->out_channels /= c->group;
    }
    d->dtype         = f.dtype;
    d->last          = f.layout == FIRE_NHWC;
    d->bias          = c->bias;
    d->relu          = l->fusion.nfollower > 0;
    d->tf32          = l->ctx->tf32;
    d->deterministic = l->ctx->deterministic;
    d->exact         = l->ctx->exact;
    d->measure       = l->ctx->tune;
    for (int i = 0; i < c->window.axes; i++) {
        d->in[i]       = even_only ? c->map.dim[i] : c->image.dim[i];
        d->out[i]      = c->map.dim[i];
        d->kernel[i]   = c->window.kernel[i];
        d->stride[i]   = even_only ? 1 : c->window.stride[i];
        d->pad[i]      = c->window.pad[i];
        d->dilation[i] = c->window.dilation[i];
    }
    for (int i = 0; i < 2 && s->to_depth; i++) {
        d->in[i]     = s->image.out[i];
        d->kernel[i] = s->filter.out[i];
        d->stride[i] /= s->image.factor;
        d->pad[i] = 0;
    }
}

/* The operation of a pass, found once. Bias and ReLU belong to forward alone: without
 * them more layers share the operations of the other passes. */
static fire_status_t find(fire_layer_t *l, fire_cudnn_pass_t pass, bool even_only,
                          const fire_cudnn_conv_args_t *args,
                          const fire_cudnn_op_t       **op_p)
{
    conv_cudnn_t     *s = l->kernel_state;
    fire_cudnn_conv_t d;

    if (s->op[pass] == NULL || s->even_only[pass] != even_only) {
        s->even_only[pass] = even_only;
        describe(l, even_only, &d);
        if (pass != FIRE_CUDNN_FORWARD) d.bias = d.relu = false;
        FIRE_TRY(fire_cudnn_conv_find(l->ctx->stream, &d, pass, args, &s->op[pass]));
    }
    *op_p = s->op[pass];
    return FIRE_OK;
}

/* Run an operation for all groups: they are slices of the channels of x, w and y. */
static fire_status_t run(fire_layer_t *l, const fire_cudnn_op_t *op,
                         fire_cudnn_conv_args_t args)
{
    const fire_conv_t *c    = FIRE_STATE(l, fire_conv_t);
    size_t             size = fire_dtype_size(op->conv.dtype);
    size_t             out  = (size_t)op->conv.out_channels;
    size_t             rows = out * (size_t)c->kernel_dim;

    for (int64_t i = 0; i < group_runs(l); i++) {
        FIRE_TRY(fire_cudnn_conv_run(l->ctx->stream, op, &args));
        args.x = (char *)args.x + (size_t)op->conv.in_channels * size;
        args.y = (char *)args.y + out * size;
        args.w = (char *)args.w + rows * size;
        if (args.bias != NULL) args.bias = (float *)args.bias + out;
    }
    return FIRE_OK;
}

/* ---- forward ---- */

static int64_t depth_count(const fire_gpu_space_to_depth_t *f)
{
    return f->rows * f->out[0] * f->out[1] * f->pitch;
}

static fire_status_t weights_to_depth(fire_layer_t *l, fire_dtype_t dtype, void **ptr_p)
{
    conv_cudnn_t *s = l->kernel_state;
    const float  *src;

    FIRE_TRY(fire_gpu_memory_fit(&s->w, (size_t)depth_count(&s->filter) *
                                            fire_dtype_size(dtype)));
    FIRE_IN(l, l->blob[0], FIRE_DATA, &src);
    *ptr_p = s->w.ptr;
    return fire_gpu_space_to_depth(l->ctx->stream, dtype, &s->filter, src, s->w.ptr);
}

/* again: for backward, which takes forward's unless memory was short and it was
 * dropped. */
static fire_status_t image_to_depth(fire_layer_t *l, fire_dtype_t dtype, bool again,
                                    void **ptr_p)
{
    conv_cudnn_t *s = l->kernel_state;
    fire_format_t f = {.place = FIRE_GPU, .dtype = dtype};
    int64_t       n = depth_count(&s->image);
    const float  *src;

    if (again && fire_storage_has(s->x->part[FIRE_DATA], &f)) {
        FIRE_IN_AS(s->x, FIRE_DATA, &f, ptr_p);
        return FIRE_OK;
    }
    FIRE_TRY(fire_blob_reshape(s->x, 1, &n));
    FIRE_IN(l, l->bottom[0], FIRE_DATA, &src);
    FIRE_OUT_AS(s->x, FIRE_DATA, &f, ptr_p);
    return fire_gpu_space_to_depth(l->ctx->stream, dtype, &s->image, src, *ptr_p);
}

static void drop_image(fire_layer_t *l)
{
    if (fire_gpu_saves_memory(l))
        fire_storage_clear(((conv_cudnn_t *)l->kernel_state)->x->part[FIRE_DATA]);
}

/* Input k as its producer stored it: even rows and columns alone, or all. */
static fire_status_t take_input(const fire_layer_t *l, int k, void **x_p, bool *thin_p)
{
    fire_format_t f    = fire_gpu_format(l, l->bottom[k]);
    fire_format_t even = fire_gpu_format_even(f);

    *thin_p = conv_cudnn_reads_even(l) &&
              fire_storage_has(l->bottom[k]->part[FIRE_DATA], &even);
    FIRE_IN_AS(l->bottom[k], FIRE_DATA, *thin_p ? &even : &f, x_p);
    return FIRE_OK;
}

static fire_status_t forward_pair(fire_layer_t *l, int k, void *bias)
{
    fire_format_t          f         = fire_gpu_format(l, l->bottom[k]);
    fire_format_t          w         = fire_gpu_format(l, l->blob[0]);
    fire_gpu_view_t        view      = fire_gpu_view(l->top[k], &f);
    fire_cudnn_conv_args_t args      = {.bias = bias};
    conv_cudnn_t          *s         = l->kernel_state;
    bool                   even_only = false;
    const fire_cudnn_op_t *op;

    if (s->to_depth) {
        FIRE_TRY(image_to_depth(l, f.dtype, false, &args.x));
        FIRE_TRY(weights_to_depth(l, f.dtype, &args.w));
    } else {
        FIRE_TRY(take_input(l, k, &args.x, &even_only));
        FIRE_IN_AS(l->blob[0], FIRE_DATA, &w, &args.w);
    }
    FIRE_OUT_AS(l->top[k], FIRE_DATA, &f, &args.y);
    FIRE_TRY(find(l, FIRE_CUDNN_FORWARD, even_only, &args, &op));
    FIRE_TRY(run(l, op, args));
    drop_image(l);
    if (op->fused) return FIRE_OK;
    return fire_gpu_epilogue_forward(l, view, f.dtype, bias, args.y);
}

static fire_status_t conv_cudnn_forward(fire_layer_t *l)
{
    const float *bias = NULL;

    plan_space_to_depth(l);
    if (FIRE_STATE(l, fire_conv_t)->bias) FIRE_IN(l, l->blob[1], FIRE_DATA, &bias);
    for (int k = 0; k < l->nbottom; k++)
        FIRE_TRY(forward_pair(l, k, (void *)bias));
    return FIRE_OK;
}

/* ---- backward ---- */

/* Gradient of the weights: directly into the parameter's where nothing has to be added
 * or rearranged, else through scratch memory. */
static fire_status_t backward_weights(fire_layer_t *l, bool even_only,
                                      fire_cudnn_conv_args_t args)
{
    const fire_conv_t     *c     = FIRE_STATE(l, fire_conv_t);
    const conv_cudnn_t    *s     = l->kernel_state;
    fire_blob_t           *b     = l->blob[0];
    bool                   first = fire_storage_is_zero(b->part[FIRE_DIFF]);
    bool                   last  = fire_gpu_format(l, b).layout == FIRE_NHWC;
    int64_t                taps  = last ? fire_window_size(&c->window) : 1;
    int64_t                room  = b->count;
    fire_format_t          plain = FIRE_FORMAT_PLAIN(FIRE_GPU);
    const fire_cudnn_op_t *op;
    void                  *diff;

    if (s->to_depth) room = depth_count(&s->filter);
    FIRE_TRY(fire_cuda_scratch(l->ctx->stream, (size_t)room * sizeof(float), &args.w));
    FIRE_TRY(find(l, FIRE_CUDNN_WEIGHTS, even_only, &args, &op));
    FIRE_TRY(fire_blob_access(b, FIRE_DIFF, first ? FIRE_WRITE : FIRE_UPDATE, &plain,
                              &diff));
    if (first && op->weights == FIRE_F32 && taps == 1 && !s->to_depth) {
        args.w = diff;
        return run(l, op, args);
    }
    FIRE_TRY(run(l, op, args));
    if (s->to_depth)
        return fire_gpu_depth_to_space(l->ctx->stream, op->weights, &s->filter, args.w,
                                       !first, diff);
    return fire_gpu_weights_from_nhwc(l->ctx->stream, op->weights, b->dim[0],
                                      b->count / b->dim[0] / taps, taps, args.w, !first,
                                      diff);
}

static fire_status_t backward_pair(fire_layer_t *l, int k)
{
    const conv_cudnn_t    *s         = l->kernel_state;
    fire_format_t          f         = fire_gpu_format(l, l->bottom[k]);
    fire_format_t          w         = fire_gpu_format(l, l->blob[0]);
    fire_cudnn_conv_args_t args      = {0};
    bool                   even_only = false;
    const fire_cudnn_op_t *op;

    FIRE_TRY(fire_gpu_epilogue_backward(l, k, fire_gpu_view(l->top[k], &f), &f,
                                        FIRE_STATE(l, fire_conv_t)->bias, &args.y));
    if (l->param_gradient[0]) {
        if (s->to_depth)
            FIRE_TRY(image_to_depth(l, f.dtype, true, &args.x));
        else
            FIRE_TRY(take_input(l, k, &args.x, &even_only));
        FIRE_TRY(backward_weights(l, even_only, args));
        drop_image(l);
    }
    if (!l->propagate_down[k]) return FIRE_OK;
    FIRE_IN_AS(l->blob[0], FIRE_DATA, &w, &args.w);
    even_only = conv_cudnn_reads_even(l);
    if (even_only) f = fire_gpu_format_even(f);
    FIRE_OUT_AS(l->bottom[k], FIRE_DIFF, &f, &args.x);
    FIRE_TRY(find(l, FIRE_CUDNN_DATA, even_only, &args, &op));
    return run(l, op, args);
}

static fire_status_t conv_cudnn_backward(fire_layer_t *l)
{
    for (int k = 0; k < l->ntop; k++)
        FIRE_TRY(backward_pair(l, k));
    return FIRE_OK;
}

static const fire_fusion_ops_t conv_cudnn_fusion = {
    .absorbs        = conv_cudnn_absorbs,
    .reads_even     = conv_cudnn_reads_even,
    .backward_reads = conv_cudnn_backward_reads,
};

const fire_kernel_t fire_conv_cudnn = {
    .name     = "cudnn",
    .where    = FIRE_GPU,
    .declines = conv_cudnn_declines,
    .prepare  = conv_cudnn_prepare,
    .forward  = conv_cudnn_forward,
    .backward = conv_cudnn_backward,
    .release  = conv_cudnn_release,
    .fusion   = &conv_cudnn_fusion,
};
