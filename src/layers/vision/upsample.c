/* upsample.c - Upsample: enlarges images in one of two ways.
 *
 *   bottom 0: (N, C, H, W)
 *   bottom 1: (N, C, H, W) (optional) mask: the second top of a MAX Pooling
 *   top 0:    (N, C, H', W')
 *
 * With a mask, as in SegNet, every value is put where its maximum came from, the rest
 * is 0. Without, every value is repeated scale x scale times. */
#include "device/cpu/blas.h"
#include "layers/vision/resize.h"

/* The state of the layer. */
typedef struct upsample {
    int64_t scale[2], out[2]; /* height, width */
} upsample_t;

/* scale_h and scale_w replace scale. */
static fire_status_t upsample_setup(fire_layer_t *l)
{
    const Caffe__UpsampleParameter *p =
        FIRE_PARAM(l, upsample_param, CAFFE__UPSAMPLE_PARAMETER__INIT);
    upsample_t *s = FIRE_STATE(l, upsample_t);

    s->scale[0] = p->has_scale_h ? p->scale_h : p->scale;
    s->scale[1] = p->has_scale_w ? p->scale_w : p->scale;
    if (s->scale[0] == 0 || s->scale[1] == 0)
        return FIRE_FAIL(FIRE_ERR_INVALID, "scale must be at least 1");
    if (l->nbottom == 1 && (p->has_upsample_h || p->has_upsample_w))
        return FIRE_FAIL(
            FIRE_ERR_INVALID,
            "upsample_h and upsample_w need the mask of a Pooling as second "
            "bottom");
    return FIRE_OK;
}

/* H' = H * scale - pad_out_h, or upsample_h. */
static fire_status_t upsample_reshape(fire_layer_t *l)
{
    const Caffe__UpsampleParameter *p =
        FIRE_PARAM(l, upsample_param, CAFFE__UPSAMPLE_PARAMETER__INIT);
    upsample_t        *s = FIRE_STATE(l, upsample_t);
    const fire_blob_t *x = l->bottom[0];

    if (x->ndim != 4)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "the input must have 4 axes (num, channels, height, width)");
    if (l->nbottom > 1 && !fire_blob_same_shape(x, l->bottom[1]))
        return FIRE_FAIL(FIRE_ERR_INVALID, "the mask must have the shape of the input");
    s->out[0] = x->dim[2] * s->scale[0] - p->pad_out_h;
    s->out[1] = x->dim[3] * s->scale[1] - p->pad_out_w;
    if (p->has_upsample_h) s->out[0] = p->upsample_h;
    if (p->has_upsample_w) s->out[1] = p->upsample_w;
    return fire_blob_reshape(l->top[0], 4,
                             (int64_t[]){x->dim[0], x->dim[1], s->out[0], s->out[1]});
}

/* The place in its output plane that an element of the mask points to. */
static fire_status_t target(const upsample_t *s, float index, int64_t *at_p)
{
    if (!(index >= 0.0f && index < (float)(s->out[0] * s->out[1])))
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "the mask points to %g of %lld x %lld; was it made by pooling "
                         "an image of this size?",
                         (double)index, (long long)s->out[0], (long long)s->out[1]);
    *at_p = (int64_t)index;
    return FIRE_OK;
}

/* The sizes as the GPU kernels take them. */
static fire_gpu_zoom_t gpu_view(const fire_layer_t *l)
{
    const upsample_t *s  = FIRE_STATE(l, upsample_t);
    const int64_t    *in = l->bottom[0]->dim;

    return (fire_gpu_zoom_t){in[0] * in[1],
                             {in[2], in[3]},
                             {s->out[0], s->out[1]},
                             {s->scale[0], s->scale[1]}};
}

/* With a mask: forward, or backward if `back`. */
static fire_status_t unpool(fire_layer_t *l, bool back)
{
    const upsample_t  *s  = FIRE_STATE(l, upsample_t);
    const fire_blob_t *b  = l->bottom[0];
    int64_t         plane = b->dim[2] * b->dim[3], out = s->out[0] * s->out[1], at = 0;
    const float    *mask, *from;
    float          *to;
    fire_gpu_zoom_t zoom = gpu_view(l);

    FIRE_IN(l, l->bottom[1], FIRE_DATA, &mask);
    if (back) {
        FIRE_IN(l, l->top[0], FIRE_DIFF, &from);
        FIRE_OUT(l, l->bottom[0], FIRE_DIFF, &to);
        FIRE_IF_GPU(l, fire_gpu_unpool_back(l->ctx->stream, &zoom, mask, from, to));
    } else {
        FIRE_IN(l, l->bottom[0], FIRE_DATA, &from);
        FIRE_OUT(l, l->top[0], FIRE_DATA, &to);
        FIRE_IF_GPU(l, fire_gpu_unpool(l->ctx->stream, &zoom, mask, from, to));
        fire_fill(fire_blob_count(l->top[0]), 0.0f, to);
    }
    for (int64_t i = 0; i < b->count; i++) {
        FIRE_TRY(target(s, mask[i], &at));
        at += i / plane * out;
        if (back)
            to[i] = from[at];
        else
            to[at] = from[i];
    }
    return FIRE_OK;
}

/* Without a mask: y[i][j] = x[i / scale][j / scale]. */
static fire_status_t upsample_forward(fire_layer_t *l)
{
    const upsample_t *s    = FIRE_STATE(l, upsample_t);
    int64_t           in   = l->bottom[0]->dim[3];
    fire_gpu_zoom_t   zoom = gpu_view(l);
    const float      *x;
    float            *y;

    if (l->nbottom > 1) return unpool(l, false);
    FIRE_IN(l, l->bottom[0], FIRE_DATA, &x);
    FIRE_OUT(l, l->top[0], FIRE_DATA, &y);
    FIRE_IF_GPU(l, fire_gpu_repeat(l->ctx->stream, &zoom, x, y));
    for (int64_t k = 0; k < l->bottom[0]->dim[0] * l->bottom[0]->dim[1]; k++) {
        for (int64_t i = 0; i < s->out[0] * s->out[1]; i++)
            *y++ = x[i / s->out[1] / s->scale[0] * in + i % s->out[1] / s->scale[1]];
        x += l->bottom[0]->dim[2] * in;
    }
    return FIRE_OK;
}

/* Without a mask: dx is the sum over the copies of each element. */
static fire_status_t upsample_backward(fire_layer_t *l)
{
    const upsample_t *s    = FIRE_STATE(l, upsample_t);
    int64_t           in   = l->bottom[0]->dim[3];
    fire_gpu_zoom_t   zoom = gpu_view(l);
    const float      *dy;
    float            *dx;

    if (!l->propagate_down[0]) return FIRE_OK;
    if (l->nbottom > 1) return unpool(l, true);
    FIRE_IN(l, l->top[0], FIRE_DIFF, &dy);
    FIRE_OUT(l, l->bottom[0], FIRE_DIFF, &dx);
    FIRE_IF_GPU(l, fire_gpu_repeat_back(l->ctx->stream, &zoom, dy, dx));
    fire_fill(fire_blob_count(l->bottom[0]), 0.0f, dx);
    for (int64_t k = 0; k < l->bottom[0]->dim[0] * l->bottom[0]->dim[1]; k++) {
        for (int64_t i = 0; i < s->out[0] * s->out[1]; i++)
            dx[i / s->out[1] / s->scale[0] * in + i % s->out[1] / s->scale[1]] += *dy++;
        dx += l->bottom[0]->dim[2] * in;
    }
    return FIRE_OK;
}

const fire_kernel_t fire_upsample_cuda = {
    .name     = "cuda",
    .where    = FIRE_GPU,
    .forward  = upsample_forward,
    .backward = upsample_backward,
};

const fire_kernel_t fire_upsample_ref = {
    .name     = "ref",
    .forward  = upsample_forward,
    .backward = upsample_backward,
};

static const fire_kernel_t *const upsample_kernels[] = {
    FIRE_IF_CUDA(fire_upsample_cuda) &fire_upsample_ref, NULL};

const fire_layer_ops_t fire_layer_upsample = {
    .type        = "Upsample",
    .bottoms     = {1, 2},
    .tops        = {1, 1},
    .no_gradient = 1u << 1, /* mask */
    .state_size  = sizeof(upsample_t),
    .setup       = upsample_setup,
    .reshape     = upsample_reshape,
    .kernels     = upsample_kernels,
};
