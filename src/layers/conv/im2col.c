/* im2col.c - Im2col: every patch that a sliding kernel covers as one column, the first
 * half of Convolution.
 *
 *     bottom: (N, C, H, W...)     top: (N, C * kernel elements, H', W'...) */
#include "layers/conv/im2col.h"
#include "layers/conv/window.h"

typedef struct im2col {
    fire_window_t window;
    int           axis;
    int64_t       images, channels;
    int64_t       in[FIRE_MAX_SPATIAL], out[FIRE_MAX_SPATIAL];
} im2col_t;

static fire_status_t im2col_setup(fire_layer_t *l)
{
    const Caffe__ConvolutionParameter *p = l->param->convolution_param;
    im2col_t                          *s = FIRE_STATE(l, im2col_t);
    int                                axes;

    if (p == NULL)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "convolution_param { kernel_size } is missing");
    FIRE_TRY(fire_blob_axis(l->bottom[0], p->axis, "convolution_param", &s->axis));
    axes = l->bottom[0]->ndim - s->axis - 1;
    if (axes < 1)
        return FIRE_FAIL(FIRE_ERR_INVALID, "there are no spatial axes after axis %d",
                         s->axis);
    return fire_window_read(p, axes, &s->window);
}

static fire_status_t im2col_reshape(fire_layer_t *l)
{
    im2col_t          *s = FIRE_STATE(l, im2col_t);
    const fire_blob_t *x = l->bottom[0];
    int64_t            dim[FIRE_MAX_DIMS];

    if (x->ndim != s->axis + 1 + s->window.axes)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "the input has %d axes now, it had %d when the layer was made",
                         x->ndim, s->axis + 1 + s->window.axes);
    for (int i = 0; i < s->window.axes; i++)
        s->in[i] = x->dim[s->axis + 1 + i];
    FIRE_TRY(fire_window_places(&s->window, s->in, s->out));
    s->images   = fire_blob_count_range(x, 0, s->axis);
    s->channels = x->dim[s->axis];
    for (int i = 0; i < s->axis; i++)
        dim[i] = x->dim[i];
    dim[s->axis] = s->channels * fire_window_size(&s->window);
    for (int i = 0; i < s->window.axes; i++)
        dim[s->axis + 1 + i] = s->out[i];
    return fire_blob_reshape(l->top[0], x->ndim, dim);
}

/* The geometry, for kernels on the GPU. */
static fire_gpu_im2col_t gpu_view(const im2col_t *s)
{
    return fire_gpu_im2col_shape(&s->window, s->images, s->channels, s->in, s->out);
}

static fire_status_t im2col_forward(fire_layer_t *l)
{
    const im2col_t *s = FIRE_STATE(l, im2col_t);
    int64_t in_dim  = fire_blob_count_range(l->bottom[0], s->axis, l->bottom[0]->ndim);
    int64_t out_dim = fire_blob_count_range(l->top[0], s->axis, l->top[0]->ndim);
    fire_gpu_im2col_t columns = gpu_view(s);
    const float      *x;
    float            *y;

    FIRE_IN(l, l->bottom[0], FIRE_DATA, &x);
    FIRE_OUT(l, l->top[0], FIRE_DATA, &y);
    FIRE_IF_GPU(l, fire_gpu_im2col(l->ctx->stream, &columns, x, y));
    for (int64_t n = 0; n < s->images; n++)
        fire_im2col(&s->window, s->channels, s->in, s->out, x + n * in_dim,
                    y + n * out_dim);
    return FIRE_OK;
}

static fire_status_t im2col_backward(fire_layer_t *l)
{
    const im2col_t *s = FIRE_STATE(l, im2col_t);
    int64_t in_dim  = fire_blob_count_range(l->bottom[0], s->axis, l->bottom[0]->ndim);
    int64_t out_dim = fire_blob_count_range(l->top[0], s->axis, l->top[0]->ndim);
    fire_gpu_im2col_t columns = gpu_view(s);
    const float      *dy;
    float            *dx;

    if (!l->propagate_down[0]) return FIRE_OK;
    FIRE_IN(l, l->top[0], FIRE_DIFF, &dy);
    FIRE_OUT(l, l->bottom[0], FIRE_DIFF, &dx);
    FIRE_IF_GPU(l, fire_gpu_col2im(l->ctx->stream, &columns, dy, dx));
    for (int64_t n = 0; n < s->images; n++)
        fire_col2im(&s->window, s->channels, s->in, s->out, dy + n * out_dim,
                    dx + n * in_dim);
    return FIRE_OK;
}

const fire_kernel_t fire_im2col_cuda = {
    .name     = "cuda",
    .where    = FIRE_GPU,
    .forward  = im2col_forward,
    .backward = im2col_backward,
};

const fire_kernel_t fire_im2col_ref = {
    .name     = "ref",
    .forward  = im2col_forward,
    .backward = im2col_backward,
};

static const fire_kernel_t *const im2col_kernels[] = {
    FIRE_IF_CUDA(fire_im2col_cuda) &fire_im2col_ref, NULL};

const fire_layer_ops_t fire_layer_im2col = {
    .type       = "Im2col",
    .bottoms    = {1, 1},
    .tops       = {1, 1},
    .state_size = sizeof(im2col_t),
    .setup      = im2col_setup,
    .reshape    = im2col_reshape,
    .kernels    = im2col_kernels,
};
