/* neuron.c - activations, element by element. */
#include <math.h>
#include <string.h>
#include "onnx/import/chain.h"

fire_status_t fire_onnx_take_unary(fire_onnx_import_t *x, const char *type,
                                   Caffe__LayerParameter **l_p)
{
    const fire_onnx_operand_t *in;

    FIRE_TRY(fire_onnx_blob(x, 0, &in));
    FIRE_TRY(fire_onnx_last(x, type, in->blob, l_p));
    return fire_onnx_set_like(x, 0, (*l_p)->top[0], in);
}

static fire_status_t unary(fire_onnx_import_t *x, const char *type)
{
    Caffe__LayerParameter *l;

    return fire_onnx_take_unary(x, type, &l);
}

fire_status_t fire_onnx_take_relu(fire_onnx_import_t *x)
{
    return unary(x, "ReLU");
}

fire_status_t fire_onnx_take_sigmoid(fire_onnx_import_t *x)
{
    bool matched;

    FIRE_TRY(fire_onnx_match_swish(x, &matched));
    return matched ? FIRE_OK : unary(x, "Sigmoid");
}

fire_status_t fire_onnx_take_tanh(fire_onnx_import_t *x)
{
    return unary(x, "TanH");
}

fire_status_t fire_onnx_take_abs(fire_onnx_import_t *x)
{
    return unary(x, "AbsVal");
}

fire_status_t fire_onnx_take_exp(fire_onnx_import_t *x)
{
    return unary(x, "Exp");
}

fire_status_t fire_onnx_take_log(fire_onnx_import_t *x)
{
    return unary(x, "Log");
}

fire_status_t fire_onnx_take_softplus(fire_onnx_import_t *x)
{
    return unary(x, "BNLL");
}

fire_status_t fire_onnx_take_hard_swish(fire_onnx_import_t *x)
{
    return unary(x, "HardSwish");
}

fire_status_t fire_onnx_take_gelu(fire_onnx_import_t *x)
{
    if (!fire_onnx_text_is(x, "approximate", "none", true))
        return fire_onnx_take_gelu_tanh(x);
    return unary(x, "GELU");
}

fire_status_t fire_onnx_take_leaky_relu(fire_onnx_import_t *x)
{
    Caffe__LayerParameter *l;
    Caffe__ReLUParameter  *p;

    FIRE_TRY(fire_onnx_take_unary(x, "ReLU", &l));
    FIRE_ONNX_SETTINGS(l, "relu_param", &p);
    p->has_negative_slope = true;
    p->negative_slope     = fire_onnx_get_float(x, "alpha", 0.01f);
    return FIRE_OK;
}

fire_status_t fire_onnx_take_elu(fire_onnx_import_t *x)
{
    Caffe__LayerParameter *l;
    Caffe__ELUParameter   *p;

    FIRE_TRY(fire_onnx_take_unary(x, "ELU", &l));
    FIRE_ONNX_SETTINGS(l, "elu_param", &p);
    p->has_alpha = true;
    p->alpha     = fire_onnx_get_float(x, "alpha", 1);
    return FIRE_OK;
}

/* Slopes of the channels, or one for all. */
fire_status_t fire_onnx_take_prelu(fire_onnx_import_t *x)
{
    const fire_onnx_operand_t *in;
    const fire_onnx_tensor_t  *slope;
    Caffe__LayerParameter     *l;
    Caffe__PReLUParameter     *p;

    FIRE_TRY(fire_onnx_blob(x, 0, &in));
    FIRE_TRY(fire_onnx_constant(x, 1, &slope));
    if (in->ndim < 2 || (slope->count != 1 && slope->count != in->dim[1]))
        return FIRE_ONNX_LACKS("the slope must be one number, or one for each channel");
    FIRE_TRY(fire_onnx_last(x, "PReLU", in->blob, &l));
    FIRE_ONNX_SETTINGS(l, "prelu_param", &p);
    p->has_channel_shared = p->channel_shared = slope->count == 1;
    FIRE_TRY(fire_onnx_give_tensor(x, slope, slope->count == 1 ? 0 : 1, &slope->count));
    return fire_onnx_set_like(x, 0, l->top[0], in);
}

/* ---- limits ---- */

fire_status_t fire_onnx_chain_clip(fire_onnx_import_t *x, fire_onnx_chain_t *c,
                                   double low, double high)
{
    Caffe__LayerParameter *l;
    Caffe__ClipParameter  *p;

    if (low == 0 && high == 6) return fire_onnx_chain_add(x, c, "ReLU6", &l);
    if (low == 0 && isinf(high)) return fire_onnx_chain_add(x, c, "ReLU", &l);
    FIRE_TRY(fire_onnx_chain_add(x, c, "Clip", &l));
    FIRE_ONNX_SETTINGS(l, "clip_param", &p);
    p->min = (float)fmax(low, -3.4e38);
    p->max = (float)fmin(high, 3.4e38);
    return FIRE_OK;
}

/* A limit: input i or, in old versions, an attribute. */
static fire_status_t limit(const fire_onnx_import_t *x, int i, const char *name,
                           double otherwise, double *value_p)
{
    const Onnx__AttributeProto *a = fire_onnx_attribute(x->node, name);
    const fire_onnx_tensor_t   *t;

    *value_p = a != NULL && a->has_f ? (double)a->f : otherwise;
    if (fire_onnx_input(x, i) == NULL) return FIRE_OK;
    FIRE_TRY(fire_onnx_constant(x, i, &t));
    if (t->count != 1 || fire_onnx_type_size(t->type) == 0)
        return FIRE_FAIL(FIRE_ERR_PARSE, "a limit must be one number");
    *value_p = fire_onnx_tensor_number(t, 0);
    return FIRE_OK;
}

fire_status_t fire_onnx_take_clip(fire_onnx_import_t *x)
{
    fire_onnx_chain_t c;
    double            low, high;

    FIRE_TRY(fire_onnx_chain_begin(x, 0, &c));
    FIRE_TRY(limit(x, 1, "min", -INFINITY, &low));
    FIRE_TRY(limit(x, 2, "max", INFINITY, &high));
    FIRE_TRY(fire_onnx_chain_clip(x, &c, low, high));
    return fire_onnx_chain_end(x, 0, &c);
}

/* alpha x + beta, between 0 and 1 */
fire_status_t fire_onnx_take_hard_sigmoid(fire_onnx_import_t *x)
{
    fire_onnx_chain_t c;

    FIRE_TRY(fire_onnx_chain_begin(x, 0, &c));
    FIRE_TRY(fire_onnx_chain_power(x, &c, 1, fire_onnx_get_float(x, "alpha", 0.2f),
                                   fire_onnx_get_float(x, "beta", 0.5f)));
    FIRE_TRY(fire_onnx_chain_clip(x, &c, 0, 1));
    return fire_onnx_chain_end(x, 0, &c);
}

/* ---- powers ---- */

fire_status_t fire_onnx_power(fire_onnx_import_t *x, bool last, const char **blob_p,
                              float power, float scale, float shift)
{
    Caffe__LayerParameter *l;
    Caffe__PowerParameter *p;

    FIRE_TRY(last ? fire_onnx_last(x, "Power", *blob_p, &l)
                  : fire_onnx_step(x, "Power", *blob_p, &l));
    FIRE_ONNX_SETTINGS(l, "power_param", &p);
    p->has_power = power != 1;
    p->has_scale = scale != 1;
    p->has_shift = shift != 0;
    p->power     = power;
    p->scale     = scale;
    p->shift     = shift;
    *blob_p      = l->top[0];
    return FIRE_OK;
}

static fire_status_t power(fire_onnx_import_t *x, float exponent, float scale)
{
    const fire_onnx_operand_t *in;
    const char                *blob;

    FIRE_TRY(fire_onnx_blob(x, 0, &in));
    blob = in->blob;
    FIRE_TRY(fire_onnx_power(x, true, &blob, exponent, scale, 0));
    return fire_onnx_set_like(x, 0, blob, in);
}

fire_status_t fire_onnx_take_neg(fire_onnx_import_t *x)
{
    return power(x, 1, -1);
}

fire_status_t fire_onnx_take_sqrt(fire_onnx_import_t *x)
{
    return power(x, 0.5f, 1);
}

fire_status_t fire_onnx_take_reciprocal(fire_onnx_import_t *x)
{
    return power(x, -1, 1);
}

fire_status_t fire_onnx_take_pow(fire_onnx_import_t *x)
{
    const fire_onnx_tensor_t *t;

    FIRE_TRY(fire_onnx_constant(x, 1, &t));
    if (t->count != 1) return FIRE_ONNX_LACKS("the exponent must be one number");
    return power(x, (float)fire_onnx_tensor_number(t, 0), 1);
}
