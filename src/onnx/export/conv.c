/* conv.c - convolutions and inner products. */
#include "layers/common/inner_product.h"
#include "layers/conv/conv.h"
#include "onnx/export/put.h"

static void window_attributes(fire_onnx_export_t *x, const fire_conv_t *c)
{
    int     n = c->window.axes;
    int64_t pads[2 * FIRE_MAX_SPATIAL];

    for (int i = 0; i < n; i++)
        pads[i] = pads[n + i] = c->window.pad[i];
    fire_onnx_ints(x, "kernel_shape", n, c->window.kernel);
    fire_onnx_ints(x, "strides", n, c->window.stride);
    fire_onnx_ints(x, "pads", 2 * n, pads);
    fire_onnx_ints(x, "dilations", n, c->window.dilation);
    fire_onnx_int(x, "group", c->group);
}

/* ONNX has the channels on axis 1: axes before them are put together. */
static const char *view(fire_onnx_export_t *x, int bottom)
{
    const fire_conv_t *c                   = FIRE_STATE(x->layer, fire_conv_t);
    const fire_blob_t *b                   = x->layer->bottom[bottom];
    int64_t            dim[FIRE_MAX_DIMS]  = {c->images};
    bool               open[FIRE_MAX_DIMS] = {false};

    if (c->axis == 1) return fire_onnx_in(x, bottom);
    for (int i = 0; i < c->axis; i++)
        open[0] |= fire_onnx_varies(x, b, i);
    for (int i = c->axis; i < b->ndim; i++)
        dim[i - c->axis + 1] = b->dim[i];
    return fire_onnx_reshape_to(x, fire_onnx_in(x, bottom), NULL, b,
                                b->ndim - c->axis + 1, dim, open);
}

/* Each bottom with the same weights, to the top beside it. */
static void convolve(fire_onnx_export_t *x, const char *op)
{
    const fire_conv_t *c = FIRE_STATE(x->layer, fire_conv_t);

    if (c->window.axes == 0)
        fire_onnx_refuse(x, "ONNX has no convolution without an image");
    for (int i = 0; i < x->layer->nbottom; i++) {
        const char *in = view(x, i), *weight = fire_onnx_param(x, 0, "weight");
        const char *out = c->axis == 1 ? fire_onnx_out(x, i) : NULL;

        out = fire_onnx_op(x, op, out, in, weight, NULL);
        if (c->bias) fire_onnx_also(x, fire_onnx_param(x, 1, "bias"));
        window_attributes(x, c);
        if (c->axis != 1)
            fire_onnx_reshape_rows(x, out, fire_onnx_out(x, i), x->layer->top[i]);
    }
}

void fire_onnx_put_convolution(fire_onnx_export_t *x)
{
    convolve(x, "Conv");
}

void fire_onnx_put_deconvolution(fire_onnx_export_t *x)
{
    convolve(x, "ConvTranspose");
}

/* Gemm takes rows of two axes: axes before and behind are put together. */
void fire_onnx_put_inner_product(fire_onnx_export_t *x)
{
    const fire_layer_t         *l  = x->layer;
    const fire_inner_product_t *s  = FIRE_STATE(l, fire_inner_product_t);
    const fire_blob_t          *b  = l->bottom[0];
    const char                 *in = fire_onnx_in(x, 0), *out = NULL, *weight;

    if (b->ndim != 2 || s->axis != 1) {
        in = fire_onnx_op(x, "Flatten", NULL, in, NULL);
        fire_onnx_int(x, "axis", s->axis);
    }
    weight = fire_onnx_param(x, 0, "weight");
    if (s->axis == 1) out = fire_onnx_out(x, 0);
    out = fire_onnx_op(x, "Gemm", out, in, weight, NULL);
    if (s->bias) fire_onnx_also(x, fire_onnx_param(x, 1, "bias"));
    if (!s->transpose) fire_onnx_int(x, "transB", 1);
    if (s->axis != 1) fire_onnx_reshape_rows(x, out, fire_onnx_out(x, 0), l->top[0]);
}
