/* conv.c - Conv, ConvTranspose, Gemm, MatMul. */
#include <string.h>
#include "onnx/import/take.h"

/* Sizes up to MOST_SIZE can be multiplied without an overflow. */
enum { MOST_AXES = 8, MOST_SIZE = 1 << 30 };

fire_status_t fire_onnx_append_u32(void *msg, const char *field, int64_t value)
{
    uint32_t v = (uint32_t)value;

    if (value < 0 || value > INT32_MAX)
        return FIRE_FAIL(FIRE_ERR_PARSE, "%s %lld cannot be", field, (long long)value);
    return fire_message_put(msg, fire_field_find(FIRE_MESSAGE(msg)->descriptor, field),
                            &v);
}

fire_status_t fire_onnx_append_sizes(void *msg, const char *field, int n,
                                     const int64_t *values, int64_t otherwise)
{
    bool same = true;

    for (int i = 1; i < n; i++)
        same &= values[i] == values[0];
    if (same && values[0] == otherwise) return FIRE_OK;
    for (int i = 0; i < (same ? 1 : n); i++)
        FIRE_TRY(fire_onnx_append_u32(msg, field, values[i]));
    return FIRE_OK;
}

/* What a convolution's node says. */
typedef struct window {
    int     axes;
    int64_t kernel[MOST_AXES], stride[MOST_AXES], dilation[MOST_AXES], pad[MOST_AXES];
    int64_t group, extra[MOST_AXES]; /* output_padding */
} window_t;

/* One of the lists; `otherwise` where it is missing. */
static fire_status_t read_list(const fire_onnx_import_t *x, const char *name, int axes,
                               int64_t otherwise, int64_t *values)
{
    int64_t list[FIRE_MAX_DIMS];
    int     n;

    FIRE_TRY(fire_onnx_get_ints(x, name, -1, &n, list));
    if (n != 0 && n != axes)
        return FIRE_FAIL(FIRE_ERR_PARSE, "%d values of %s for %d axes", n, name, axes);
    for (int i = 0; i < axes; i++) {
        values[i] = n == 0 ? otherwise : list[i];
        if (values[i] < otherwise || values[i] > MOST_SIZE)
            return FIRE_FAIL(FIRE_ERR_PARSE, "%s of %lld", name, (long long)values[i]);
    }
    return FIRE_OK;
}

/* Padding must be equal on both sides. SAME_UPPER and SAME_LOWER: so that the output is
 * the input over the stride. */
static fire_status_t read_pads(const fire_onnx_import_t *x, const int64_t *in,
                               window_t *w)
{
    int64_t list[FIRE_MAX_DIMS];
    int     n;
    bool    same = fire_onnx_text_is(x, "auto_pad", "SAME_UPPER", false) ||
                fire_onnx_text_is(x, "auto_pad", "SAME_LOWER", false);

    FIRE_TRY(fire_onnx_get_ints(x, "pads", -1, &n, list));
    if (n != 0 && n != 2 * w->axes)
        return FIRE_FAIL(FIRE_ERR_PARSE, "%d pads for %d axes", n, w->axes);
    for (int i = 0; i < w->axes; i++) {
        int64_t begin = n == 0 ? 0 : list[i], end = n == 0 ? 0 : list[w->axes + i];

        if (same) {
            int64_t reach = (w->kernel[i] - 1) * w->dilation[i] + 1;
            int64_t sum =
                ((in[i] + w->stride[i] - 1) / w->stride[i] - 1) * w->stride[i] + reach -
                in[i];

            begin = sum > 0 ? sum / 2 : 0;
            end   = sum > 0 ? sum - begin : 0;
        }
        if (begin != end || begin < 0 || begin > MOST_SIZE)
            return FIRE_ONNX_LACKS(
                "padding of %lld before and %lld behind: both must be "
                "equal",
                (long long)begin, (long long)end);
        w->pad[i] = begin;
    }
    return FIRE_OK;
}

static fire_status_t read_window(const fire_onnx_import_t  *x,
                                 const fire_onnx_operand_t *in,
                                 const fire_onnx_tensor_t *weight, window_t *w)
{
    int64_t n;

    w->axes = in->ndim - 2;
    if (w->axes < 1 || w->axes > MOST_AXES || weight->ndim != in->ndim)
        return FIRE_FAIL(FIRE_ERR_PARSE, "an input of %d axes and weights of %d",
                         in->ndim, weight->ndim);
    FIRE_TRY(fire_onnx_elements(weight->ndim, weight->dim, &n));
    for (int i = 0; i < w->axes; i++)
        w->kernel[i] = weight->dim[2 + i];
    FIRE_TRY(read_list(x, "strides", w->axes, 1, w->stride));
    FIRE_TRY(read_list(x, "dilations", w->axes, 1, w->dilation));
    FIRE_TRY(read_list(x, "output_padding", w->axes, 0, w->extra));
    w->group = fire_onnx_get_int(x, "group", 1);
    if (w->group < 1 || w->group > MOST_SIZE)
        return FIRE_FAIL(FIRE_ERR_PARSE, "group is %lld", (long long)w->group);
    for (int i = 0; i < w->axes; i++)
        if (w->extra[i] != 0)
            return FIRE_ONNX_LACKS("output_padding has no form in Deconvolution");
    return read_pads(x, in->dim + 2, w);
}

static fire_status_t put_settings(Caffe__LayerParameter *l, const window_t *w,
                                  int64_t outputs, bool bias)
{
    Caffe__ConvolutionParameter *p;
    Caffe__FillerParameter      *filler;

    FIRE_ONNX_SETTINGS(l, "convolution_param", &p);
    FIRE_TRY(fire_onnx_append_u32(p, "num_output", outputs));
    if (!bias) {
        p->has_bias_term = true;
        p->bias_term     = false;
    }
    FIRE_TRY(fire_onnx_append_sizes(p, "kernel_size", w->axes, w->kernel, -1));
    FIRE_TRY(fire_onnx_append_sizes(p, "stride", w->axes, w->stride, 1));
    FIRE_TRY(fire_onnx_append_sizes(p, "pad", w->axes, w->pad, 0));
    FIRE_TRY(fire_onnx_append_sizes(p, "dilation", w->axes, w->dilation, 1));
    if (w->group != 1) FIRE_TRY(fire_onnx_append_u32(p, "group", w->group));
    FIRE_TRY(fire_message_add_message(p, "weight_filler", &filler));
    return fire_message_add_string(filler, "type", "msra");
}

/* Shape of the output. */
static fire_status_t output_shape(const window_t *w, const fire_onnx_operand_t *in,
                                  bool reverse, int64_t channels, int64_t *dim)
{
    dim[0] = in->dim[0];
    dim[1] = channels;
    for (int i = 0; i < w->axes; i++) {
        int64_t reach = (w->kernel[i] - 1) * w->dilation[i] + 1;
        int64_t n     = in->dim[2 + i];

        dim[2 + i] = reverse ? (n - 1) * w->stride[i] + reach - 2 * w->pad[i]
                             : (n + 2 * w->pad[i] - reach) / w->stride[i] + 1;
        if (dim[2 + i] < 1 || (!reverse && n + 2 * w->pad[i] < reach))
            return FIRE_FAIL(FIRE_ERR_PARSE, "the kernel is larger than the input");
    }
    return FIRE_OK;
}

/* Weights: (outputs, inputs / group, kernel), of ConvTranspose (inputs, outputs / group,
 * kernel), as the layers have them. */
static fire_status_t take(fire_onnx_import_t *x, bool reverse)
{
    const fire_onnx_operand_t *in;
    const fire_onnx_tensor_t  *weight, *bias = NULL;
    Caffe__LayerParameter     *l;
    window_t                   w = {0};
    int64_t                    dim[FIRE_MAX_DIMS], outputs, inputs;

    FIRE_TRY(fire_onnx_blob(x, 0, &in));
    FIRE_TRY(fire_onnx_constant(x, 1, &weight));
    if (fire_onnx_input(x, 2) != NULL) FIRE_TRY(fire_onnx_constant(x, 2, &bias));
    FIRE_TRY(read_window(x, in, weight, &w));
    outputs = reverse ? weight->dim[1] * w.group : weight->dim[0];
    inputs  = reverse ? weight->dim[0] : weight->dim[1] * w.group;
    if (inputs != in->dim[1] || outputs < 1 || outputs % w.group != 0)
        return FIRE_FAIL(FIRE_ERR_PARSE,
                         "weights for %lld channels, the input has %lld",
                         (long long)inputs, (long long)in->dim[1]);
    FIRE_TRY(output_shape(&w, in, reverse, outputs, dim));
    FIRE_TRY(
        fire_onnx_last(x, reverse ? "Deconvolution" : "Convolution", in->blob, &l));
    FIRE_TRY(put_settings(l, &w, outputs, bias != NULL));
    FIRE_TRY(fire_onnx_give_tensor(x, weight, weight->ndim, weight->dim));
    if (bias != NULL) FIRE_TRY(fire_onnx_give_tensor(x, bias, 1, &outputs));
    return fire_onnx_set_blob(x, 0, l->top[0], in->ndim, dim);
}

fire_status_t fire_onnx_take_conv(fire_onnx_import_t *x)
{
    return take(x, false);
}

fire_status_t fire_onnx_take_conv_transpose(fire_onnx_import_t *x)
{
    return take(x, true);
}

/* ---- products ---- */

/* weight: (outputs, inputs), or (inputs, outputs) with `transpose`. The input's last axis
 * is multiplied. */
static fire_status_t product(fire_onnx_import_t *x, const fire_onnx_operand_t *in,
                             const fire_onnx_tensor_t *weight, bool transpose,
                             const fire_onnx_tensor_t *bias)
{
    Caffe__InnerProductParameter *p;
    Caffe__FillerParameter       *filler;
    Caffe__LayerParameter        *l;
    int64_t                       dim[FIRE_MAX_DIMS], outputs;

    if (in->ndim < 2 || weight->ndim != 2 ||
        weight->dim[transpose ? 0 : 1] != in->dim[in->ndim - 1])
        return FIRE_ONNX_LACKS(
            "only a matrix of constants as wide as the last axis of the "
            "input can be multiplied");
    outputs = weight->dim[transpose ? 1 : 0];
    if (bias != NULL && bias->count != outputs)
        return FIRE_ONNX_LACKS("a bias of %lld numbers for %lld outputs",
                               (long long)bias->count, (long long)outputs);
    FIRE_TRY(fire_onnx_last(x, "InnerProduct", in->blob, &l));
    FIRE_ONNX_SETTINGS(l, "inner_product_param", &p);
    FIRE_TRY(fire_onnx_append_u32(p, "num_output", outputs));
    p->has_bias_term = bias == NULL;
    p->bias_term     = bias != NULL;
    p->has_axis      = in->ndim != 2;
    p->axis          = in->ndim - 1;
    p->has_transpose = p->transpose = transpose;
    FIRE_TRY(fire_message_add_message(p, "weight_filler", &filler));
    FIRE_TRY(fire_message_add_string(filler, "type", "xavier"));
    FIRE_TRY(fire_onnx_give_tensor(x, weight, 2, weight->dim));
    if (bias != NULL) FIRE_TRY(fire_onnx_give_tensor(x, bias, 1, &outputs));
    memcpy(dim, in->dim, sizeof(dim));
    dim[in->ndim - 1] = outputs;
    return fire_onnx_set_blob(x, 0, l->top[0], in->ndim, dim);
}

fire_status_t fire_onnx_take_gemm(fire_onnx_import_t *x)
{
    const fire_onnx_operand_t *in;
    const fire_onnx_tensor_t  *weight, *bias = NULL;

    FIRE_TRY(fire_onnx_blob(x, 0, &in));
    FIRE_TRY(fire_onnx_constant(x, 1, &weight));
    if (fire_onnx_input(x, 2) != NULL) FIRE_TRY(fire_onnx_constant(x, 2, &bias));
    if (fire_onnx_get_float(x, "alpha", 1) != 1 ||
        fire_onnx_get_int(x, "transA", 0) != 0 ||
        (bias != NULL && fire_onnx_get_float(x, "beta", 1) != 1))
        return FIRE_ONNX_LACKS("alpha and beta must be 1, transA 0");
    return product(x, in, weight, fire_onnx_get_int(x, "transB", 0) == 0, bias);
}

fire_status_t fire_onnx_take_matmul(fire_onnx_import_t *x)
{
    const fire_onnx_operand_t *in;
    const fire_onnx_tensor_t  *weight;

    FIRE_TRY(fire_onnx_blob(x, 0, &in));
    FIRE_TRY(fire_onnx_constant(x, 1, &weight));
    return product(x, in, weight, true, NULL);
}
