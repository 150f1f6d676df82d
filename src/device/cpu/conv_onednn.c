/* conv_onednn.c - oneDNN's convolutions as operations. oneDNN chooses the formats:
 * channels in blocks wherever there are enough of them. We ask for the training variant
 * in inference, too: for inference it would choose channels last, which is no faster,
 * and Winograd weights of four times the size. */
#include "base/alloc.h"
#include "device/cpu/onednn_api.h"

/* A convolution in oneDNN's terms: dilation 0 means none; pad is before, pad_end
 * behind. */
typedef struct arrays {
    fire_onednn_array_t x, weights, bias, y;
    dnnl_memory_desc_t  x_md, weights_md, bias_md, y_md;
    dnnl_dims_t         stride, dilation, pad, pad_end;
    bool                bias_used;
} arrays_t;

static fire_onednn_array_t image(const fire_onednn_conv_t *c, int64_t channels,
                                 const int64_t *dim)
{
    fire_onednn_array_t a = {
        .ndim = 2 + c->window->axes, .dim = {c->num, channels}, .dtype = c->dtype};

    for (int i = 0; i < c->window->axes; i++)
        a.dim[2 + i] = dim[i];
    return a;
}

static fire_onednn_array_t filter(const fire_onednn_conv_t *c, fire_onednn_pass_t pass)
{
    bool                sum  = pass == FIRE_ONEDNN_BACKWARD_WEIGHTS;
    fire_onednn_array_t a    = {.dtype = sum ? FIRE_F32 : c->dtype};
    int                 head = c->group > 1;

    a.ndim          = head + 2 + c->window->axes;
    a.dim[0]        = c->group;
    a.dim[head]     = c->out_channels / c->group;
    a.dim[head + 1] = c->in_channels / c->group;
    for (int i = 0; i < c->window->axes; i++)
        a.dim[head + 2 + i] = c->window->kernel[i];
    return a;
}

static fire_status_t make_arrays(const fire_onednn_conv_t *c, fire_onednn_pass_t pass,
                                 arrays_t *a)
{
    const fire_window_t *w = c->window;

    a->x         = image(c, c->in_channels, c->in);
    a->y         = image(c, c->out_channels, c->out);
    a->weights   = filter(c, pass);
    a->bias      = (fire_onednn_array_t){.ndim = 1, .dim = {c->out_channels}};
    a->bias_used = c->bias;
    for (int i = 0; i < w->axes; i++) {
        int64_t reach = w->dilation[i] * (w->kernel[i] - 1) + 1;

        a->stride[i]   = w->stride[i];
        a->dilation[i] = w->dilation[i] - 1;
        a->pad[i]      = w->pad[i];
        a->pad_end[i]  = (c->out[i] - 1) * w->stride[i] + reach - c->in[i] - w->pad[i];
    }
    FIRE_TRY(fire_onednn_md_make(&a->x, dnnl_format_tag_any, &a->x_md));
    FIRE_TRY(fire_onednn_md_make(&a->weights, dnnl_format_tag_any, &a->weights_md));
    FIRE_TRY(fire_onednn_md_make(&a->bias, dnnl_a, &a->bias_md));
    return fire_onednn_md_make(&a->y, dnnl_format_tag_any, &a->y_md);
}

static void free_arrays(arrays_t *a)
{
    fire_onednn_md_free(&a->x_md);
    fire_onednn_md_free(&a->weights_md);
    fire_onednn_md_free(&a->bias_md);
    fire_onednn_md_free(&a->y_md);
}

/* Describe the primitive of one pass. The interfaces differ here: 3.x has one call, 2.x
 * fills in a struct first. hint: the descriptor of the forward pass, or NULL. */
#if DNNL_VERSION_MAJOR >= 3
static dnnl_status_t describe(const arrays_t *a, fire_onednn_pass_t pass,
                              dnnl_alg_kind_t algorithm, dnnl_primitive_attr_t attr,
                              dnnl_engine_t cpu, const_dnnl_primitive_desc_t hint,
                              dnnl_primitive_desc_t *pd_p)
{
    const_dnnl_memory_desc_t bias = a->bias_used ? a->bias_md : NULL;

    switch (pass) {
    case FIRE_ONEDNN_FORWARD:
        return dnnl_convolution_forward_primitive_desc_create(
            pd_p, cpu, dnnl_forward_training, algorithm, a->x_md, a->weights_md, bias,
            a->y_md, a->stride, a->dilation, a->pad, a->pad_end, attr);
    case FIRE_ONEDNN_BACKWARD_DATA:
        return dnnl_convolution_backward_data_primitive_desc_create(
            pd_p, cpu, algorithm, a->x_md, a->weights_md, a->y_md, a->stride,
            a->dilation, a->pad, a->pad_end, hint, attr);
    default:
        return dnnl_convolution_backward_weights_primitive_desc_create(
            pd_p, cpu, algorithm, a->x_md, a->weights_md, bias, a->y_md, a->stride,
            a->dilation, a->pad, a->pad_end, hint, attr);
    }
}
#else
static dnnl_status_t describe(const arrays_t *a, fire_onednn_pass_t pass,
                              dnnl_alg_kind_t algorithm, dnnl_primitive_attr_t attr,
                              dnnl_engine_t cpu, const_dnnl_primitive_desc_t hint,
                              dnnl_primitive_desc_t *pd_p)
{
    const dnnl_memory_desc_t *bias = a->bias_used ? &a->bias_md : NULL;
    dnnl_convolution_desc_t   d;
    dnnl_status_t             result;

    switch (pass) {
    case FIRE_ONEDNN_FORWARD:
        result = dnnl_dilated_convolution_forward_desc_init(
            &d, dnnl_forward_training, algorithm, &a->x_md, &a->weights_md, bias,
            &a->y_md, a->stride, a->dilation, a->pad, a->pad_end);
        break;
    case FIRE_ONEDNN_BACKWARD_DATA:
        result = dnnl_dilated_convolution_backward_data_desc_init(
            &d, algorithm, &a->x_md, &a->weights_md, &a->y_md, a->stride, a->dilation,
            a->pad, a->pad_end);
        break;
    default:
        result = dnnl_dilated_convolution_backward_weights_desc_init(
            &d, algorithm, &a->x_md, &a->weights_md, bias, &a->y_md, a->stride,
            a->dilation, a->pad, a->pad_end);
    }
    return result == dnnl_success
               ? dnnl_primitive_desc_create(pd_p, &d, attr, cpu, hint)
               : result;
}
#endif

/* oneDNN's Winograd wins wherever it exists, also where its own `auto` does not choose
 * it. It needs at least 32 channels on both sides. */
static bool wants_winograd(const fire_onednn_conv_t *c)
{
    bool fits = !c->exact && c->window->axes == 2 && c->group == 1 &&
                c->dtype == FIRE_F32 && c->in_channels >= 32 && c->out_channels >= 32;

    for (int i = 0; fits && i < c->window->axes; i++)
        fits = c->window->kernel[i] == 3 && c->window->stride[i] == 1 &&
               c->window->dilation[i] == 1;
    return fits;
}

static fire_status_t find(const fire_onednn_conv_t *c, const arrays_t *a,
                          fire_onednn_pass_t pass, dnnl_primitive_attr_t attr,
                          const_dnnl_primitive_desc_t hint, dnnl_primitive_desc_t *pd_p)
{
    dnnl_engine_t cpu;

    FIRE_TRY(fire_onednn_engine(&cpu));
    if (wants_winograd(c) && describe(a, pass, dnnl_convolution_winograd, attr, cpu,
                                      hint, pd_p) == dnnl_success)
        return FIRE_OK;
    return FIRE_ONEDNN(
        describe(a, pass, dnnl_convolution_direct, attr, cpu, hint, pd_p));
}

static fire_status_t append_relu(dnnl_primitive_attr_t attr, float slope)
{
    dnnl_post_ops_t ops;
    fire_status_t   st;

    FIRE_TRY(FIRE_ONEDNN(dnnl_post_ops_create(&ops)));
#if DNNL_VERSION_MAJOR >= 3
    st = FIRE_ONEDNN(dnnl_post_ops_append_eltwise(ops, dnnl_eltwise_relu, slope, 0.0f));
#else
    st = FIRE_ONEDNN(
        dnnl_post_ops_append_eltwise(ops, 1.0f, dnnl_eltwise_relu, slope, 0.0f));
#endif
    if (st == FIRE_OK) st = FIRE_ONEDNN(dnnl_primitive_attr_set_post_ops(attr, ops));
    dnnl_post_ops_destroy(ops);
    return st;
}

/* Attributes: scratch memory comes from us, so that the whole net shares it; in
 * forward, a ReLU behind the convolution. */
static fire_status_t make_attributes(const fire_onednn_conv_t *c,
                                     fire_onednn_pass_t        pass,
                                     dnnl_primitive_attr_t    *attr_p)
{
    dnnl_primitive_attr_t attr;
    fire_status_t         st;

    FIRE_TRY(FIRE_ONEDNN(dnnl_primitive_attr_create(&attr)));
    st = FIRE_ONEDNN(
        dnnl_primitive_attr_set_scratchpad_mode(attr, dnnl_scratchpad_mode_user));
    if (st == FIRE_OK && c->relu && pass == FIRE_ONEDNN_FORWARD)
        st = append_relu(attr, c->relu_slope);
    if (st < 0) {
        dnnl_primitive_attr_destroy(attr);
        return st;
    }
    *attr_p = attr;
    return FIRE_OK;
}

static fire_status_t make_op(const arrays_t *a, fire_onednn_pass_t pass, int64_t parts,
                             const_dnnl_primitive_desc_t pd, fire_onednn_op_t *op_p)
{
    const fire_onednn_arg_t
        forward[]  = {{DNNL_ARG_SRC, dnnl_query_src_md, 0, &a->x, true},
                      {DNNL_ARG_WEIGHTS, dnnl_query_weights_md, 0, &a->weights, false},
                      {DNNL_ARG_DST, dnnl_query_dst_md, 0, &a->y, true},
                      {DNNL_ARG_BIAS, dnnl_query_weights_md, 1, &a->bias, false}},
        data[]     = {{DNNL_ARG_DIFF_SRC, dnnl_query_diff_src_md, 0, &a->x, true},
                      {DNNL_ARG_WEIGHTS, dnnl_query_weights_md, 0, &a->weights, false},
                      {DNNL_ARG_DIFF_DST, dnnl_query_diff_dst_md, 0, &a->y, true}},
        gradient[] = {
            {DNNL_ARG_SRC, dnnl_query_src_md, 0, &a->x, true},
            {DNNL_ARG_DIFF_WEIGHTS, dnnl_query_diff_weights_md, 0, &a->weights, false},
            {DNNL_ARG_DIFF_DST, dnnl_query_diff_dst_md, 0, &a->y, true},
            {DNNL_ARG_DIFF_BIAS, dnnl_query_diff_weights_md, 1, &a->bias, false}};

    switch (pass) {
    case FIRE_ONEDNN_FORWARD:
        return fire_onednn_op_make(pd, parts, 3 + a->bias_used, forward, op_p);
    case FIRE_ONEDNN_BACKWARD_DATA:
        return fire_onednn_op_make(pd, parts, 3, data, op_p);
    default:
        return fire_onednn_op_make(pd, parts, 3 + a->bias_used, gradient, op_p);
    }
}

/* For a backward pass, describe the forward pass first: oneDNN needs it as a hint. */
static fire_status_t find_pass(const fire_onednn_conv_t *c, fire_onednn_pass_t pass,
                               arrays_t *a, dnnl_primitive_attr_t attr,
                               dnnl_primitive_desc_t *pd_p)
{
    dnnl_primitive_desc_t forward;
    arrays_t              first = {0};
    fire_status_t         st;

    if (pass == FIRE_ONEDNN_FORWARD) return find(c, a, pass, attr, NULL, pd_p);
    FIRE_TRY_GOTO(st, make_arrays(c, FIRE_ONEDNN_FORWARD, &first), out);
    FIRE_TRY_GOTO(st, find(c, &first, FIRE_ONEDNN_FORWARD, attr, NULL, &forward), out);
    st = find(c, a, pass, attr, forward, pd_p);
    dnnl_primitive_desc_destroy(forward);
out:
    free_arrays(&first);
    return st;
}

static fire_status_t make_part(const fire_onednn_conv_t *c, fire_onednn_pass_t pass,
                               int64_t parts, fire_onednn_op_t *op_p)
{
    fire_onednn_conv_t    part = *c;
    dnnl_primitive_desc_t pd   = NULL;
    dnnl_primitive_attr_t attr = NULL;
    arrays_t              a    = {0};
    fire_status_t         st;

    part.num /= parts;
    FIRE_TRY_GOTO(st, make_arrays(&part, pass, &a), out);
    FIRE_TRY_GOTO(st, make_attributes(c, pass, &attr), out);
    FIRE_TRY_GOTO(st, find_pass(&part, pass, &a, attr, &pd), out);
    st = make_op(&a, pass, parts, pd, op_p);
out:
    if (pd != NULL) dnnl_primitive_desc_destroy(pd);
    if (attr != NULL) dnnl_primitive_attr_destroy(attr);
    free_arrays(&a);
    return st;
}

/* Winograd's scratch memory grows with the batch, its speed does not: a batch that
 * needs more than this is cut into equal parts, one after another. */
enum { MUCH_SCRATCH = 32 << 20 }; /* bytes */

fire_status_t fire_onednn_conv_op(const fire_onednn_conv_t *c, fire_onednn_pass_t pass,
                                  fire_onednn_op_t *op_p)
{
    fire_onednn_op_t whole = {0}, op;
    int64_t          parts = 1;
    fire_status_t    st;

    FIRE_TRY(make_part(c, pass, 1, &whole));
    if (pass != FIRE_ONEDNN_BACKWARD_WEIGHTS)
        while (parts < c->num && (c->num % parts != 0 ||
                                  whole.scratch_bytes / (size_t)parts > MUCH_SCRATCH))
            parts++;
    if (parts > 1 && c->num % parts == 0) {
        st = make_part(c, pass, parts, &op);
        if (st == FIRE_OK) {
            fire_onednn_op_fini(&whole);
            whole = op;
        } else if (st != FIRE_ERR_UNSUPPORTED) {
            fire_onednn_op_fini(&whole);
            return st;
        }
    }
    *op_p = whole;
    return FIRE_OK;
}
