/* interp.c - Interp: bilinear resizing with aligned corners, as DeepLab and PSPNet use
 * it.
 *
 *   bottom 0: (N, C, H, W)
 *   bottom 1: (N, C, H', W') (optional) only its size is used
 *   top 0:    (N, C, H', W')
 *
 * H' and W' come from bottom 1, from height and width, or from factors: (H - 1) /
 * shrink_factor * zoom_factor + 1. Negative pads (pad_beg, pad_end) crop the input
 * first. */
#include "device/cpu/blas.h"
#include "layers/vision/resize.h"

typedef fire_interp_t interp_t;

static fire_status_t interp_setup(fire_layer_t *l)
{
    const Caffe__InterpParameter *p =
        FIRE_PARAM(l, interp_param, CAFFE__INTERP_PARAMETER__INIT);

    if (p->pad_beg > 0 || p->pad_end > 0)
        return FIRE_FAIL(FIRE_ERR_INVALID, "pad_beg and pad_end must not be positive");
    if (p->zoom_factor < 1 || p->shrink_factor < 1)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "zoom_factor and shrink_factor must be at least 1");
    if ((p->height > 0) != (p->width > 0) || p->height < 0 || p->width < 0)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "give both height and width, positive, or neither");
    return FIRE_OK;
}

/* Sizes of the used part of the input and of the result. */
static fire_status_t interp_reshape(fire_layer_t *l)
{
    const Caffe__InterpParameter *p =
        FIRE_PARAM(l, interp_param, CAFFE__INTERP_PARAMETER__INIT);
    interp_t          *s = FIRE_STATE(l, interp_t);
    const fire_blob_t *x = l->bottom[0];

    if (x->ndim != 4 || (l->nbottom > 1 && l->bottom[1]->ndim != 4))
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "the bottoms must have 4 axes (num, channels, height, width)");
    s->skip = -p->pad_beg;
    for (int i = 0; i < 2; i++) {
        s->in[i] = x->dim[2 + i] + p->pad_beg + p->pad_end;
        if (l->nbottom > 1)
            s->out[i] = l->bottom[1]->dim[2 + i];
        else if (p->height > 0)
            s->out[i] = i == 0 ? p->height : p->width;
        else
            s->out[i] = (s->in[i] - 1) / p->shrink_factor * p->zoom_factor + 1;
        if (s->in[i] <= 0 || s->out[i] <= 0)
            return FIRE_FAIL(FIRE_ERR_INVALID,
                             "the pads leave %lld of %lld places for a result of %lld",
                             (long long)s->in[i], (long long)x->dim[2 + i],
                             (long long)s->out[i]);
    }
    return fire_blob_reshape(l->top[0], 4,
                             (int64_t[]){x->dim[0], x->dim[1], s->out[0], s->out[1]});
}

/* One plane, (in height, width) to (out): y from x, or with dx: add dy's gradient to
 * dx. */
static void resize_plane(const interp_t *s, int64_t width, const float *x, float *y,
                         const float *dy, float *dx)
{
    for (int64_t row = 0, o = 0; row < s->out[0]; row++) {
        fire_mix_t h = fire_interp_mix(s, 0, row);

        for (int64_t column = 0; column < s->out[1]; column++, o++) {
            fire_mix_t w     = fire_interp_mix(s, 1, column);
            int64_t    at[4] = {h.low * width + w.low, h.low * width + w.high,
                                h.high * width + w.low, h.high * width + w.high};
            float part[4] = {h.w_low * w.w_low, h.w_low * w.w_high, h.w_high * w.w_low,
                             h.w_high * w.w_high};

            if (dx != NULL)
                for (int k = 0; k < 4; k++)
                    dx[at[k]] += part[k] * dy[o];
            else
                y[o] = h.w_low * (w.w_low * x[at[0]] + w.w_high * x[at[1]]) +
                       h.w_high * (w.w_low * x[at[2]] + w.w_high * x[at[3]]);
        }
    }
}

static fire_status_t interp_forward(fire_layer_t *l)
{
    const interp_t *s  = FIRE_STATE(l, interp_t);
    const int64_t  *in = l->bottom[0]->dim;
    const float    *x;
    float          *y;

    FIRE_IN(l, l->bottom[0], FIRE_DATA, &x);
    FIRE_OUT(l, l->top[0], FIRE_DATA, &y);
    FIRE_IF_GPU(l, fire_gpu_interp(l->ctx->stream, s, in[0] * in[1], in + 2, x, y));
    for (int64_t k = 0; k < in[0] * in[1]; k++)
        resize_plane(s, in[3], x + k * in[2] * in[3], y + k * s->out[0] * s->out[1],
                     NULL, NULL);
    return FIRE_OK;
}

/* Each output element distributes its gradient to up to four inputs. */
static fire_status_t interp_backward(fire_layer_t *l)
{
    const interp_t *s  = FIRE_STATE(l, interp_t);
    const int64_t  *in = l->bottom[0]->dim;
    const float    *dy;
    float          *dx;

    if (!l->propagate_down[0]) return FIRE_OK;
    FIRE_IN(l, l->top[0], FIRE_DIFF, &dy);
    FIRE_OUT(l, l->bottom[0], FIRE_DIFF, &dx);
    FIRE_IF_GPU(l,
                fire_gpu_interp_back(l->ctx->stream, s, in[0] * in[1], in + 2, dy, dx));
    fire_fill(fire_blob_count(l->bottom[0]), 0.0f, dx);
    for (int64_t k = 0; k < in[0] * in[1]; k++)
        resize_plane(s, in[3], NULL, NULL, dy + k * s->out[0] * s->out[1],
                     dx + k * in[2] * in[3]);
    return FIRE_OK;
}

const fire_kernel_t fire_interp_cuda = {
    .name     = "cuda",
    .where    = FIRE_GPU,
    .forward  = interp_forward,
    .backward = interp_backward,
};

const fire_kernel_t fire_interp_ref = {
    .name     = "ref",
    .forward  = interp_forward,
    .backward = interp_backward,
};

static const fire_kernel_t *const interp_kernels[] = {
    FIRE_IF_CUDA(fire_interp_cuda) &fire_interp_ref, NULL};

const fire_layer_ops_t fire_layer_interp = {
    .type        = "Interp",
    .bottoms     = {1, 2},
    .tops        = {1, 1},
    .no_gradient = 1u << 1, /* only its size is used */
    .state_size  = sizeof(interp_t),
    .setup       = interp_setup,
    .reshape     = interp_reshape,
    .kernels     = interp_kernels,
};
