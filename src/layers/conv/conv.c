/* conv.c - parameters and shapes of Convolution and Deconvolution. */
#include "layers/conv/conv.h"

/* channels: of bottom 0; outputs: of the top */
static fire_status_t check_channels(int64_t channels, int64_t outputs, int64_t group)
{
    if (outputs < 1 || outputs > INT32_MAX)
        return FIRE_FAIL(FIRE_ERR_INVALID, "num_output must be given, from 1 to %d",
                         INT32_MAX);
    if (channels == 0) return FIRE_FAIL(FIRE_ERR_INVALID, "the input has no channels");
    if (group == 0 || channels % group != 0)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "the input's %lld channels do not divide into %lld groups",
                         (long long)channels, (long long)group);
    if (outputs % group != 0)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "num_output %lld does not divide into %lld groups",
                         (long long)outputs, (long long)group);
    return FIRE_OK;
}

/* Blob 0, the weights, and blob 1, the bias. */
static fire_status_t add_parameters(fire_layer_t *l)
{
    const Caffe__ConvolutionParameter *p = l->param->convolution_param;
    const fire_conv_t                 *c = FIRE_STATE(l, fire_conv_t);
    int64_t dim[2 + FIRE_MAX_SPATIAL] = {c->map.channels, c->image.channels / c->group};
    int64_t outputs                   = fire_conv_top(c)->channels;

    for (int i = 0; i < c->window.axes; i++)
        dim[2 + i] = c->window.kernel[i];
    FIRE_TRY(fire_layer_add_blob(l, 2 + c->window.axes, dim, p->weight_filler));
    return c->bias ? fire_layer_add_blob(l, 1, &outputs, p->bias_filler) : FIRE_OK;
}

fire_status_t fire_conv_setup(fire_layer_t *l, bool reverse, bool depthwise)
{
    const Caffe__ConvolutionParameter *p = l->param->convolution_param;
    fire_conv_t                       *c = FIRE_STATE(l, fire_conv_t);
    const fire_blob_t                 *x = l->bottom[0];
    int64_t                            channels, outputs;

    if (p == NULL)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "convolution_param { num_output kernel_size } is missing");
    FIRE_TRY(fire_blob_axis(x, p->axis, "convolution_param", &c->axis));
    FIRE_TRY(fire_window_read(p, x->ndim - c->axis - 1, &c->window));
    channels = x->dim[c->axis];
    outputs  = depthwise ? channels : p->num_output;
    c->group = depthwise ? channels : p->group;
    FIRE_TRY(check_channels(channels, outputs, c->group));
    c->reverse        = reverse;
    c->bias           = p->bias_term;
    c->image.channels = reverse ? outputs : channels;
    c->map.channels   = reverse ? channels : outputs;
    FIRE_TRY(add_parameters(l));
    c->kernel_dim = c->image.channels / c->group * fire_window_size(&c->window);
    return FIRE_OK;
}

/* Spatial sizes of the image or the map. */
static void set_dims(fire_conv_side_t *side, int axes, const int64_t *dim)
{
    side->plane = 1;
    for (int i = 0; i < axes; i++) {
        side->dim[i] = dim[i];
        side->plane *= dim[i];
    }
}

/* The inverse of fire_window_places(): the smallest image in which the kernel fits at
 * so many places along each axis. */
static fire_status_t image_size(const fire_window_t *w, const int64_t *places,
                                int64_t *size_p)
{
    for (int i = 0; i < w->axes; i++) {
        if (places[i] == 0)
            return FIRE_FAIL(FIRE_ERR_INVALID, "spatial axis %d of the input is empty",
                             i);
        if (__builtin_mul_overflow(w->stride[i], places[i] - 1, &size_p[i]) ||
            __builtin_add_overflow(size_p[i], w->dilation[i] * (w->kernel[i] - 1) + 1,
                                   &size_p[i]))
            return FIRE_FAIL(
                FIRE_ERR_INVALID,
                "stride %lld makes spatial axis %d of the output too large",
                (long long)w->stride[i], i);
        size_p[i] -= 2 * w->pad[i];
        if (size_p[i] <= 0)
            return FIRE_FAIL(FIRE_ERR_INVALID,
                             "padding %lld leaves nothing of spatial axis %d of the "
                             "output",
                             (long long)w->pad[i], i);
    }
    return FIRE_OK;
}

/* The shape may change between passes, except for what the weights depend on. */
static fire_status_t check_bottoms(const fire_layer_t *l, int64_t channels)
{
    const fire_conv_t *c = FIRE_STATE(l, fire_conv_t);
    char               a[FIRE_SHAPE_TEXT], b[FIRE_SHAPE_TEXT];

    if (l->bottom[0]->ndim != c->axis + 1 + c->window.axes)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "the input has %d axes now, it had %d when the layer was made",
                         l->bottom[0]->ndim, c->axis + 1 + c->window.axes);
    if (l->bottom[0]->dim[c->axis] != channels)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "the input has %lld channels, the weights are for %lld",
                         (long long)l->bottom[0]->dim[c->axis], (long long)channels);
    for (int i = 1; i < l->nbottom; i++)
        if (!fire_blob_same_shape(l->bottom[0], l->bottom[i]))
            return FIRE_FAIL(FIRE_ERR_INVALID,
                             "all bottoms must have one shape: bottom 0 is %s, "
                             "bottom %d is %s",
                             fire_blob_shape_string(l->bottom[0], a, sizeof(a)), i,
                             fire_blob_shape_string(l->bottom[i], b, sizeof(b)));
    return FIRE_OK;
}

fire_status_t fire_conv_reshape(fire_layer_t *l)
{
    fire_conv_t       *c      = FIRE_STATE(l, fire_conv_t);
    fire_conv_side_t  *bottom = c->reverse ? &c->map : &c->image;
    fire_conv_side_t  *top    = c->reverse ? &c->image : &c->map;
    const fire_blob_t *x      = l->bottom[0];
    int64_t            dim[FIRE_MAX_DIMS], *spatial = dim + c->axis + 1;

    FIRE_TRY(check_bottoms(l, bottom->channels));
    for (int i = 0; i < c->axis; i++)
        dim[i] = x->dim[i];
    dim[c->axis] = top->channels;
    FIRE_TRY((c->reverse ? image_size : fire_window_places)(
        &c->window, x->dim + c->axis + 1, spatial));
    for (int i = 0; i < l->ntop; i++)
        FIRE_TRY(fire_blob_reshape(l->top[i], x->ndim, dim));
    set_dims(bottom, c->window.axes, x->dim + c->axis + 1);
    set_dims(top, c->window.axes, spatial);
    c->images = fire_blob_count_range(x, 0, c->axis);
    return FIRE_OK;
}

double fire_conv_macs(const fire_layer_t *l)
{
    const fire_conv_t *c = FIRE_STATE(l, fire_conv_t);

    return (double)l->ntop * (double)c->images * (double)c->map.channels *
           (double)c->map.plane * (double)c->kernel_dim;
}
