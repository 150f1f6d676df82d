/* conv_cudnn.c - describes convolutions to cuDNN as graphs of operations: the
 * convolution and, in forward, bias and ReLU behind it. */
#include "device/cuda/cudnn/conv_cudnn.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "device/cuda/cudnn/plan_cudnn.h"

enum { X = 1, W, Y, BIAS }; /* unique ids of tensors, which plans refer to */

static cudnnDataType_t type_of(fire_dtype_t t)
{
    return t == FIRE_F32    ? CUDNN_DATA_FLOAT
           : t == FIRE_BF16 ? CUDNN_DATA_BFLOAT16
                            : CUDNN_DATA_HALF;
}

/* A tensor of logical shape (a, b, spatial...). With channels last, pixels are `pitch`
 * elements apart. */
static fire_cudnn_tensor_t tensor(const fire_cudnn_conv_t *c, int64_t uid,
                                  cudnnDataType_t type, int64_t a, int64_t b,
                                  int64_t pitch, const int64_t *spatial)
{
    fire_cudnn_tensor_t t     = {.uid = uid, .type = type, .ndim = (int)c->axes + 2};
    int64_t             plane = 1, step = c->last ? pitch : 1;

    t.dim[0] = a;
    t.dim[1] = b;
    for (int i = (int)c->axes - 1; i >= 0; i--) {
        t.dim[i + 2]    = spatial[i];
        t.stride[i + 2] = step;
        step *= spatial[i];
        plane *= spatial[i];
    }
    t.stride[1] = c->last ? 1 : plane;
    t.stride[0] = plane * (c->last ? pitch : b);
    return t;
}

/* Descriptors of a convolution: its tensors, and its strides and paddings. */
typedef struct parts {
    cudnnBackendDescriptor_t x, w, y, conv;
} parts_t;

/* The convolution descriptor: strides, paddings, dilations; sums in float32. */
static fire_status_t describe(fire_cudnn_graph_t *g, const fire_cudnn_conv_t *c,
                              parts_t *p)
{
    cudnnDataType_t        compute = CUDNN_DATA_FLOAT;
    cudnnConvolutionMode_t mode    = CUDNN_CROSS_CORRELATION;

    FIRE_TRY(fire_cudnn_graph_add(g, CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR, &p->conv));
    FIRE_CUDNN_SET(g, p->conv, CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE,
                   1, &compute);
    FIRE_CUDNN_SET(g, p->conv, CUDNN_ATTR_CONVOLUTION_CONV_MODE,
                   CUDNN_TYPE_CONVOLUTION_MODE, 1, &mode);
    FIRE_CUDNN_SET(g, p->conv, CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, CUDNN_TYPE_INT64, 1,
                   &c->axes);
    FIRE_CUDNN_SET(g, p->conv, CUDNN_ATTR_CONVOLUTION_DILATIONS, CUDNN_TYPE_INT64,
                   c->axes, c->dilation);
    FIRE_CUDNN_SET(g, p->conv, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, CUDNN_TYPE_INT64,
                   c->axes, c->stride);
    FIRE_CUDNN_SET(g, p->conv, CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, CUDNN_TYPE_INT64,
                   c->axes, c->pad);
    FIRE_CUDNN_SET(g, p->conv, CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, CUDNN_TYPE_INT64,
                   c->axes, c->pad);
    return fire_cudnn_graph_finish(g, p->conv);
}

static fire_status_t add_tensors(fire_cudnn_graph_t *g, const fire_cudnn_conv_t *c,
                                 fire_dtype_t weights, bool y_inside, parts_t *p)
{
    cudnnDataType_t     type = type_of(c->dtype);
    fire_cudnn_tensor_t x =
        tensor(c, X, type, c->num, c->in_channels, c->in_pitch, c->in);
    fire_cudnn_tensor_t w =
        tensor(c, W, type_of(weights), c->out_channels, c->in_channels / c->group,
               c->in_channels / c->group, c->kernel);
    fire_cudnn_tensor_t y =
        tensor(c, Y, type, c->num, c->out_channels, c->out_pitch, c->out);

    if (y_inside) { /* inside the graph: not rounded before bias and ReLU */
        y.uid  = 0;
        y.type = CUDNN_DATA_FLOAT;
    }
    FIRE_TRY(fire_cudnn_graph_tensor(g, &x, &p->x));
    FIRE_TRY(fire_cudnn_graph_tensor(g, &w, &p->w));
    return fire_cudnn_graph_tensor(g, &y, &p->y);
}

/* Add the operation; the three passes differ only in the names of attributes. */
static fire_status_t add_conv(fire_cudnn_graph_t *g, fire_cudnn_pass_t pass,
                              const parts_t *p)
{
    static const struct {
        cudnnBackendDescriptorType_t type;
        cudnnBackendAttributeName_t  conv, x, w, y, alpha, beta;
    } names[] = {
#define NAMES(P, x_, w_, y_)                          \
    CUDNN_ATTR_OPERATION_CONVOLUTION_##P##_CONV_DESC, \
        CUDNN_ATTR_OPERATION_CONVOLUTION_##P##_##x_,  \
        CUDNN_ATTR_OPERATION_CONVOLUTION_##P##_##w_,  \
        CUDNN_ATTR_OPERATION_CONVOLUTION_##P##_##y_,  \
        CUDNN_ATTR_OPERATION_CONVOLUTION_##P##_ALPHA, \
        CUDNN_ATTR_OPERATION_CONVOLUTION_##P##_BETA
        {CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
         NAMES(FORWARD, X, W, Y)},
        {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
         NAMES(BWD_DATA, DX, W, DY)},
        {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
         NAMES(BWD_FILTER, X, DW, DY)},
#undef NAMES
    };
    float                    one = 1, zero = 0;
    cudnnBackendDescriptor_t d;

    FIRE_TRY(fire_cudnn_graph_add(g, names[pass].type, &d));
    FIRE_CUDNN_SET(g, d, names[pass].conv, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &p->conv);
    FIRE_CUDNN_SET(g, d, names[pass].x, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &p->x);
    FIRE_CUDNN_SET(g, d, names[pass].w, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &p->w);
    FIRE_CUDNN_SET(g, d, names[pass].y, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &p->y);
    FIRE_CUDNN_SET(g, d, names[pass].alpha, CUDNN_TYPE_FLOAT, 1, &one);
    FIRE_CUDNN_SET(g, d, names[pass].beta, CUDNN_TYPE_FLOAT, 1, &zero);
    FIRE_TRY(fire_cudnn_graph_finish(g, d));
    g->op[g->nop++] = d;
    return FIRE_OK;
}

/* Add the operation to = mode(from, other); other may be NULL. */
static fire_status_t add_pointwise(fire_cudnn_graph_t *g, cudnnPointwiseMode_t mode,
                                   cudnnBackendDescriptor_t from,
                                   cudnnBackendDescriptor_t other,
                                   cudnnBackendDescriptor_t to)
{
    cudnnDataType_t          precision = CUDNN_DATA_FLOAT;
    cudnnBackendDescriptor_t how, d;

    FIRE_TRY(fire_cudnn_graph_add(g, CUDNN_BACKEND_POINTWISE_DESCRIPTOR, &how));
    FIRE_CUDNN_SET(g, how, CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, 1,
                   &mode);
    FIRE_CUDNN_SET(g, how, CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE, 1,
                   &precision);
    FIRE_TRY(fire_cudnn_graph_finish(g, how));
    FIRE_TRY(fire_cudnn_graph_add(g, CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR, &d));
    FIRE_CUDNN_SET(g, d, CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR,
                   CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &how);
    FIRE_CUDNN_SET(g, d, CUDNN_ATTR_OPERATION_POINTWISE_XDESC,
                   CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &from);
    if (other != NULL)
        FIRE_CUDNN_SET(g, d, CUDNN_ATTR_OPERATION_POINTWISE_BDESC,
                       CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &other);
    FIRE_CUDNN_SET(g, d, CUDNN_ATTR_OPERATION_POINTWISE_YDESC,
                   CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &to);
    FIRE_TRY(fire_cudnn_graph_finish(g, d));
    g->op[g->nop++] = d;
    return FIRE_OK;
}

/* y = relu(raw + bias), or only one of the two; raw: what the convolution gives. */
static fire_status_t add_epilogue(fire_cudnn_graph_t *g, const fire_cudnn_conv_t *c,
                                  cudnnBackendDescriptor_t raw)
{
    static const int64_t one[FIRE_CUDNN_SPATIAL] = {1, 1, 1};
    fire_cudnn_tensor_t  b =
        tensor(c, BIAS, CUDNN_DATA_FLOAT, 1, c->out_channels, c->out_channels, one);
    fire_cudnn_tensor_t y =
        tensor(c, Y, type_of(c->dtype), c->num, c->out_channels, c->out_pitch, c->out);
    fire_cudnn_tensor_t      between = y;
    cudnnBackendDescriptor_t bias, sum = raw, out;

    FIRE_TRY(fire_cudnn_graph_tensor(g, &y, &out));
    if (c->bias) {
        between.uid  = 0;
        between.type = CUDNN_DATA_FLOAT;
        FIRE_TRY(fire_cudnn_graph_tensor(g, &b, &bias));
        if (c->relu)
            FIRE_TRY(fire_cudnn_graph_tensor(g, &between, &sum));
        else
            sum = out;
        FIRE_TRY(add_pointwise(g, CUDNN_POINTWISE_ADD, raw, bias, sum));
    }
    return c->relu ? add_pointwise(g, CUDNN_POINTWISE_RELU_FWD, sum, NULL, out)
                   : FIRE_OK;
}

/* Arguments of a plan, by unique id. */
static fire_cudnn_args_t pack(const fire_cudnn_op_t        *op,
                              const fire_cudnn_conv_args_t *a)
{
    fire_cudnn_args_t p = {3, {X, W, Y, BIAS}, {a->x, a->w, a->y, a->bias}};

    if (op->fused && op->conv.bias) p.n = 4;
    return p;
}

/* Append "_NAMEaxbxc" to a key; returns its length. */
static int add_sizes(char *text, size_t size, char name, int64_t axes, const int64_t *x)
{
    int at = snprintf(text, size, "_%c", name);

    for (int64_t i = 0; i < axes; i++)
        at += snprintf(text + at, size - (size_t)at, i > 0 ? "x%lld" : "%lld",
                       (long long)x[i]);
    return at;
}

enum { KEY_TEXT = 640 }; /* for numbers of any size */

/* One word with all that the choice of a plan depends on: shapes, formats, rules. */
static void write_key(const fire_cudnn_op_t *op, char text[KEY_TEXT])
{
    static const char *const passes[] = {"forward", "data", "weights"};
    const fire_cudnn_conv_t *c        = &op->conv;
    int                      at;
    const struct {
        char           name;
        const int64_t *x;
    } sizes[] = {
        {'i', c->in},     {'o', c->out}, {'k', c->kernel},
        {'s', c->stride}, {'p', c->pad}, {'d', c->dilation},
    };

    at = snprintf(text, KEY_TEXT, "%s_t%d%d_l%d_n%lld_g%lld_c%lldof%lld_m%lldof%lld",
                  passes[op->pass], (int)c->dtype, (int)op->weights, c->last,
                  (long long)c->num, (long long)c->group, (long long)c->in_channels,
                  (long long)c->in_pitch, (long long)c->out_channels,
                  (long long)c->out_pitch);
    for (int i = 0; i < 6; i++)
        at += add_sizes(text + at, KEY_TEXT - (size_t)at, sizes[i].name, c->axes,
                        sizes[i].x);
    snprintf(text + at, KEY_TEXT - (size_t)at, "_b%d_r%d_f%d_allow%d%d%d",
             op->fused && c->bias, op->fused && c->relu, op->fused, c->deterministic,
             c->exact, c->tf32);
}

/* Make the plan of an operation, as op->fused and op->weights ask. */
static fire_status_t make(fire_stream_t *s, fire_cudnn_op_t *op,
                          const fire_cudnn_conv_args_t *args)
{
    const fire_cudnn_conv_t *c = &op->conv;
    char                     key[KEY_TEXT];
    fire_cudnn_rules_t       r = {
              .deterministic = c->deterministic,
              .exact         = c->exact,
              .tensor_cores  = c->tf32 || c->dtype != FIRE_F32,
              .measure       = c->measure,
              .unadvised = op->pass == FIRE_CUDNN_WEIGHTS && c->dtype == FIRE_F32 && c->tf32,
              .key       = key,
    };
    fire_cudnn_args_t  where = pack(op, args);
    fire_cudnn_graph_t g;
    parts_t            p;
    fire_status_t      st;

    write_key(op, key);
    FIRE_TRY(fire_cudnn_graph_init(s, &g));
    st = describe(&g, c, &p);
    if (st >= 0) st = add_tensors(&g, c, op->weights, op->fused, &p);
    if (st >= 0) st = add_conv(&g, op->pass, &p);
    if (st >= 0 && op->fused) st = add_epilogue(&g, c, p.y);
    if (st >= 0) st = fire_cudnn_plan_make(&g, &r, &where, op->plan);
    fire_cudnn_graph_fini(&g);
    return st;
}

/* First with bias and ReLU in the same kernel, else without. Gradients of weights are
 * stored in the net's precision: kernels that store float32 are several times
 * slower. */
static fire_status_t make_best(fire_stream_t *s, fire_cudnn_op_t *op,
                               const fire_cudnn_conv_args_t *args)
{
    fire_status_t st;

    op->fused   = op->pass == FIRE_CUDNN_FORWARD && (op->conv.bias || op->conv.relu);
    op->weights = op->conv.dtype;
    st          = make(s, op, args);
    if (st >= 0 || !op->fused) return st;
    op->fused = false;
    return make(s, op, args);
}

fire_status_t fire_cudnn_conv_find(fire_stream_t *s, const fire_cudnn_conv_t *conv,
                                   fire_cudnn_pass_t             pass,
                                   const fire_cudnn_conv_args_t *args,
                                   const fire_cudnn_op_t       **op_p)
{
    fire_cudnn_op_t *op = s->cudnn_ops;
    fire_status_t    st;

    for (; op != NULL; op = op->next)
        if (op->pass == pass && memcmp(&op->conv, conv, sizeof(*conv)) == 0) {
            *op_p = op;
            return FIRE_OK;
        }
    FIRE_TRY(FIRE_NEW(&op, 1));
    FIRE_TRY_GOTO(st, FIRE_NEW((fire_cudnn_plan_t **)&op->plan, 1), err_op);
    memcpy(&op->conv, conv, sizeof(*conv));
    op->pass = pass;
    FIRE_TRY_GOTO(st, make_best(s, op, args), err_plan);
    op->next     = s->cudnn_ops;
    s->cudnn_ops = op;
    *op_p        = op;
    return FIRE_OK;

err_plan:
    fire_free(op->plan);
err_op:
    fire_free(op);
    return st;
}

fire_status_t fire_cudnn_conv_run(fire_stream_t *s, const fire_cudnn_op_t *op,
                                  const fire_cudnn_conv_args_t *args)
{
    fire_cudnn_args_t where = pack(op, args);

    return fire_cudnn_plan_run(s, op->plan, &where);
}

bool fire_cudnn_is_available(fire_stream_t *s)
{
    const fire_cudnn_t *calls;
    cudnnHandle_t       handle;

    return fire_cudnn_get(s, &calls, &handle) >= 0;
}

void fire_cudnn_close(fire_stream_t *s)
{
    const fire_cudnn_t *calls;
    cudnnHandle_t       handle;

    if (s->cudnn == NULL || fire_cudnn_get(s, &calls, &handle) < 0) return;
    while (s->cudnn_ops != NULL) {
        fire_cudnn_op_t *op = s->cudnn_ops;

        s->cudnn_ops = op->next;
        fire_cudnn_plan_free(calls, op->plan);
        fire_free(op->plan);
        fire_free(op);
    }
    calls->Destroy(handle);
    s->cudnn = NULL;
}
