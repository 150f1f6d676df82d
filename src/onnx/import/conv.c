/* conv.c - Conv, ConvTranspose, Gemm, MatMul. */
#include <string.h>
#include "base/alloc.h"
#include "onnx/import/chain.h"

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
    int64_t kernel[MOST_AXES], stride[MOST_AXES], dilation[MOST_AXES];
    int64_t begin[MOST_AXES], end[MOST_AXES]; /* padding */
    int64_t pad[MOST_AXES];                   /* what the layer pads, on both sides */
    int64_t group, extra[MOST_AXES];          /* output_padding */
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

static int64_t reach_of(const window_t *w, int i)
{
    return (w->kernel[i] - 1) * w->dilation[i] + 1;
}

/* The size of axis i of what ConvTranspose makes without padding. */
static int64_t whole(const window_t *w, const int64_t *in, int i)
{
    return (in[i] - 1) * w->stride[i] + reach_of(w, i) + w->extra[i];
}

/* SAME_UPPER and SAME_LOWER, or the size that ConvTranspose is to have: how much padding
 * that is. *known_p: there is such a rule. */
static fire_status_t total_pads(const fire_onnx_import_t *x, const int64_t *in,
                                bool reverse, const window_t *w, int64_t *sum,
                                bool *known_p)
{
    bool same = fire_onnx_text_is(x, "auto_pad", "SAME_UPPER", false) ||
                fire_onnx_text_is(x, "auto_pad", "SAME_LOWER", false);
    int64_t shape[FIRE_MAX_DIMS] = {0};
    int     n                    = 0;

    if (reverse) FIRE_TRY(fire_onnx_get_ints(x, "output_shape", -1, &n, shape));
    if (n != 0 && n != w->axes && n != w->axes + 2)
        return FIRE_FAIL(FIRE_ERR_PARSE, "an output_shape of %d axes", n);
    *known_p = same || n != 0;
    for (int i = 0; i < w->axes && *known_p; i++) {
        int64_t steps = (in[i] + w->stride[i] - 1) / w->stride[i];

        if (!reverse)
            sum[i] = (steps - 1) * w->stride[i] + reach_of(w, i) - in[i];
        else
            sum[i] = whole(w, in, i) -
                     (n != 0 ? shape[n - w->axes + i] : in[i] * w->stride[i]);
        if (sum[i] < 0 && !reverse) sum[i] = 0;
    }
    return FIRE_OK;
}

static fire_status_t read_pads(const fire_onnx_import_t *x, const int64_t *in,
                               bool reverse, window_t *w)
{
    int64_t list[FIRE_MAX_DIMS] = {0}, sum[MOST_AXES];
    bool    known, upper = fire_onnx_text_is(x, "auto_pad", "SAME_UPPER", false);
    int     n;

    FIRE_TRY(fire_onnx_get_ints(x, "pads", -1, &n, list));
    if (n != 0 && n != 2 * w->axes)
        return FIRE_FAIL(FIRE_ERR_PARSE, "%d pads for %d axes", n, w->axes);
    FIRE_TRY(total_pads(x, in, reverse, w, sum, &known));
    for (int i = 0; i < w->axes; i++) {
        w->begin[i] = list[i];
        w->end[i]   = list[w->axes + i];
        if (known) {
            w->begin[i] = upper ? sum[i] / 2 : sum[i] - sum[i] / 2;
            w->end[i]   = sum[i] - w->begin[i];
        }
        if (w->begin[i] < -MOST_SIZE || w->begin[i] > MOST_SIZE ||
            w->end[i] < -MOST_SIZE || w->end[i] > MOST_SIZE)
            return FIRE_FAIL(FIRE_ERR_PARSE, "padding of %lld and %lld",
                             (long long)w->begin[i], (long long)w->end[i]);
        w->pad[i] = w->begin[i] < w->end[i] ? w->begin[i] : w->end[i];
        if (w->pad[i] < 0) w->pad[i] = 0;
    }
    return FIRE_OK;
}

static fire_status_t read_window(const fire_onnx_import_t *x,
                                 const fire_onnx_chain_t *in, bool reverse,
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
    return read_pads(x, in->dim + 2, reverse, w);
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

static fire_status_t put_layer(fire_onnx_import_t *x, fire_onnx_chain_t *c,
                               const char *type, const window_t *w, int64_t outputs,
                               const fire_onnx_tensor_t *weight,
                               const fire_onnx_tensor_t *bias)
{
    Caffe__LayerParameter *l;

    FIRE_TRY(fire_onnx_chain_add(x, c, type, &l));
    FIRE_TRY(put_settings(l, w, outputs, bias != NULL));
    FIRE_TRY(fire_onnx_give_tensor(x, weight, weight->ndim, weight->dim));
    if (bias != NULL) FIRE_TRY(fire_onnx_give_tensor(x, bias, 1, &outputs));
    c->dim[1] = outputs;
    return FIRE_OK;
}

/* Padding that differs between the sides is a layer of its own in front. */
static fire_status_t convolve(fire_onnx_import_t *x, fire_onnx_chain_t *c, window_t *w,
                              int64_t outputs, const fire_onnx_tensor_t *weight,
                              const fire_onnx_tensor_t *bias)
{
    int64_t begin[FIRE_MAX_DIMS] = {0}, end[FIRE_MAX_DIMS] = {0};

    for (int i = 0; i < w->axes; i++) {
        begin[2 + i] = w->begin[i] - w->pad[i];
        end[2 + i]   = w->end[i] - w->pad[i];
    }
    FIRE_TRY(
        fire_onnx_chain_pad(x, c, CAFFE__PAD_PARAMETER__MODE__CONSTANT, 0, begin, end));
    for (int i = 0; i < w->axes; i++) {
        int64_t steps = c->dim[2 + i] + 2 * w->pad[i] - reach_of(w, i);

        if (steps < 0)
            return FIRE_FAIL(FIRE_ERR_PARSE, "the kernel is larger than the input");
        c->dim[2 + i] = steps / w->stride[i] + 1;
    }
    return put_layer(x, c, "Convolution", w, outputs, weight, bias);
}

/* The result without padding is `whole`; padding cuts begin and end off, of which the
 * layer can do what is equal on both sides. Rows that output_padding adds behind all that
 * the input reaches are zero, so that the bias comes after them. */
static fire_status_t spread_out(fire_onnx_import_t *x, fire_onnx_chain_t *c,
                                window_t *w, int64_t outputs,
                                const fire_onnx_tensor_t *weight,
                                const fire_onnx_tensor_t *bias)
{
    int64_t begin[FIRE_MAX_DIMS] = {0}, end[FIRE_MAX_DIMS] = {0};
    bool    adds = false;

    for (int i = 0; i < w->axes; i++) {
        int64_t made   = whole(w, c->dim + 2, i) - w->extra[i],
                behind = w->end[i] - w->extra[i];

        w->pad[i] = w->begin[i] < behind ? w->begin[i] : behind;
        if (w->pad[i] < 0) w->pad[i] = 0;
        begin[2 + i] = w->pad[i] - w->begin[i];
        end[2 + i]   = w->pad[i] - behind;
        adds |= begin[2 + i] > 0 || end[2 + i] > 0;
        c->dim[2 + i] = made - 2 * w->pad[i];
        if (c->dim[2 + i] < 1 || c->dim[2 + i] + begin[2 + i] + end[2 + i] < 1)
            return FIRE_FAIL(FIRE_ERR_PARSE, "its padding leaves nothing");
    }
    FIRE_TRY(put_layer(x, c, "Deconvolution", w, outputs, weight, adds ? NULL : bias));
    FIRE_TRY(
        fire_onnx_chain_pad(x, c, CAFFE__PAD_PARAMETER__MODE__CONSTANT, 0, begin, end));
    if (adds && bias != NULL) {
        Caffe__LayerParameter *l;

        FIRE_TRY(fire_onnx_chain_add(x, c, "Bias", &l));
        FIRE_TRY(fire_onnx_give_tensor(x, bias, 1, &outputs));
    }
    return FIRE_OK;
}

/* Weights: (outputs, inputs / group, kernel), of ConvTranspose (inputs, outputs / group,
 * kernel), as the layers have them. */
static fire_status_t take(fire_onnx_import_t *x, bool reverse)
{
    const fire_onnx_tensor_t *weight, *bias = NULL;
    fire_onnx_chain_t         c;
    window_t                  w = {0};
    int64_t                   outputs, inputs;

    FIRE_TRY(fire_onnx_chain_begin(x, 0, &c));
    FIRE_TRY(fire_onnx_constant(x, 1, &weight));
    if (fire_onnx_input(x, 2) != NULL) FIRE_TRY(fire_onnx_constant(x, 2, &bias));
    FIRE_TRY(read_window(x, &c, reverse, weight, &w));
    outputs = reverse ? weight->dim[1] * w.group : weight->dim[0];
    inputs  = reverse ? weight->dim[0] : weight->dim[1] * w.group;
    if (inputs != c.dim[1] || outputs < 1 || outputs % w.group != 0)
        return FIRE_FAIL(FIRE_ERR_PARSE,
                         "weights for %lld channels, the input has %lld",
                         (long long)inputs, (long long)c.dim[1]);
    FIRE_TRY(reverse ? spread_out(x, &c, &w, outputs, weight, bias)
                     : convolve(x, &c, &w, outputs, weight, bias));
    return fire_onnx_chain_end(x, 0, &c);
}

fire_status_t fire_onnx_take_conv(fire_onnx_import_t *x)
{
    return take(x, false);
}

fire_status_t fire_onnx_take_conv_transpose(fire_onnx_import_t *x)
{
    return take(x, true);
}
