/* composed.c - activations that are made of several layers. */
#include <math.h>
#include "onnx/import/chain.h"

#define ELTWISE(op) CAFFE__ELTWISE_PARAMETER__ELTWISE_OP__##op

/* A layer without settings. */
static fire_status_t add(fire_onnx_import_t *x, fire_onnx_chain_t *c, const char *type)
{
    Caffe__LayerParameter *l;

    return fire_onnx_chain_add(x, c, type, &l);
}

static fire_status_t elu(fire_onnx_import_t *x, fire_onnx_chain_t *c, float alpha)
{
    Caffe__LayerParameter *l;
    Caffe__ELUParameter   *p;

    FIRE_TRY(fire_onnx_chain_add(x, c, "ELU", &l));
    FIRE_ONNX_SETTINGS(l, "elu_param", &p);
    p->has_alpha = true;
    p->alpha     = alpha;
    return FIRE_OK;
}

/* 1 where c > limit, else 0 */
static fire_status_t threshold(fire_onnx_import_t *x, fire_onnx_chain_t *c, float limit)
{
    Caffe__LayerParameter     *l;
    Caffe__ThresholdParameter *p;

    FIRE_TRY(fire_onnx_chain_add(x, c, "Threshold", &l));
    FIRE_ONNX_SETTINGS(l, "threshold_param", &p);
    p->has_threshold = true;
    p->threshold     = limit;
    return FIRE_OK;
}

/* gamma ELU(alpha) */
fire_status_t fire_onnx_take_selu(fire_onnx_import_t *x)
{
    fire_onnx_chain_t c;

    FIRE_TRY(fire_onnx_chain_begin(x, 0, &c));
    FIRE_TRY(elu(x, &c, fire_onnx_get_float(x, "alpha", 1.67326319f)));
    FIRE_TRY(fire_onnx_chain_power(x, &c, 1,
                                   fire_onnx_get_float(x, "gamma", 1.05070102f), 0));
    return fire_onnx_chain_end(x, 0, &c);
}

/* a ELU(x / a) */
fire_status_t fire_onnx_take_celu(fire_onnx_import_t *x)
{
    float             a = fire_onnx_get_float(x, "alpha", 1);
    fire_onnx_chain_t c;

    FIRE_TRY(fire_onnx_chain_begin(x, 0, &c));
    if (a != 1) FIRE_TRY(fire_onnx_chain_power(x, &c, 1, 1 / a, 0));
    FIRE_TRY(elu(x, &c, 1));
    if (a != 1) FIRE_TRY(fire_onnx_chain_power(x, &c, 1, a, 0));
    return fire_onnx_chain_end(x, 0, &c);
}

/* x tanh(log(1 + e^x)) */
fire_status_t fire_onnx_take_mish(fire_onnx_import_t *x)
{
    fire_onnx_chain_t in, c;

    FIRE_TRY(fire_onnx_chain_begin(x, 0, &in));
    c = in;
    FIRE_TRY(add(x, &c, "BNLL"));
    FIRE_TRY(add(x, &c, "TanH"));
    FIRE_TRY(fire_onnx_chain_eltwise(x, &in, &c, ELTWISE(PROD), 1));
    return fire_onnx_chain_end(x, 0, &in);
}

/* x / (1 + |x|) */
fire_status_t fire_onnx_take_softsign(fire_onnx_import_t *x)
{
    fire_onnx_chain_t in, c;

    FIRE_TRY(fire_onnx_chain_begin(x, 0, &in));
    c = in;
    FIRE_TRY(add(x, &c, "AbsVal"));
    FIRE_TRY(fire_onnx_chain_power(x, &c, -1, 1, 1));
    FIRE_TRY(fire_onnx_chain_eltwise(x, &in, &c, ELTWISE(PROD), 1));
    return fire_onnx_chain_end(x, 0, &in);
}

/* x where it is above alpha, else 0 */
fire_status_t fire_onnx_take_thresholded_relu(fire_onnx_import_t *x)
{
    fire_onnx_chain_t in, c;

    FIRE_TRY(fire_onnx_chain_begin(x, 0, &in));
    c = in;
    FIRE_TRY(threshold(x, &c, fire_onnx_get_float(x, "alpha", 1)));
    FIRE_TRY(fire_onnx_chain_eltwise(x, &in, &c, ELTWISE(PROD), 1));
    return fire_onnx_chain_end(x, 0, &in);
}

/* (x > 0) - (-x > 0) */
fire_status_t fire_onnx_take_sign(fire_onnx_import_t *x)
{
    fire_onnx_chain_t c, d;

    FIRE_TRY(fire_onnx_chain_begin(x, 0, &c));
    d = c;
    FIRE_TRY(threshold(x, &c, 0));
    FIRE_TRY(fire_onnx_chain_power(x, &d, 1, -1, 0));
    FIRE_TRY(threshold(x, &d, 0));
    FIRE_TRY(fire_onnx_chain_eltwise(x, &c, &d, ELTWISE(SUM), -1));
    return fire_onnx_chain_end(x, 0, &c);
}

/* x sigmoid(alpha x) */
fire_status_t fire_onnx_take_swish(fire_onnx_import_t *x)
{
    Caffe__LayerParameter *l;
    Caffe__SwishParameter *p;

    FIRE_TRY(fire_onnx_take_unary(x, "Swish", &l));
    FIRE_ONNX_SETTINGS(l, "swish_param", &p);
    p->has_beta = true;
    p->beta     = fire_onnx_get_float(x, "alpha", 1);
    return FIRE_OK;
}

/* x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) */
fire_status_t fire_onnx_take_gelu_tanh(fire_onnx_import_t *x)
{
    fire_onnx_chain_t in, c, cube;

    FIRE_TRY(fire_onnx_chain_begin(x, 0, &in));
    c = cube = in;
    FIRE_TRY(fire_onnx_chain_power(x, &cube, 3, 1, 0));
    FIRE_TRY(fire_onnx_chain_eltwise(x, &c, &cube, ELTWISE(SUM), 0.044715f));
    FIRE_TRY(fire_onnx_chain_power(x, &c, 1, (float)sqrt(2 / M_PI), 0));
    FIRE_TRY(add(x, &c, "TanH"));
    FIRE_TRY(fire_onnx_chain_power(x, &c, 1, 0.5f, 0.5f));
    FIRE_TRY(fire_onnx_chain_eltwise(x, &in, &c, ELTWISE(PROD), 1));
    return fire_onnx_chain_end(x, 0, &in);
}

/* ---- conditions: 1 for true, 0 for false ---- */

/* a > b, where either may be a number; negated: a <= b. */
static fire_status_t compare(fire_onnx_import_t *x, int a, int b, bool negated)
{
    const fire_onnx_operand_t *v = fire_onnx_input(x, b);
    fire_onnx_chain_t          c, d;

    FIRE_TRY(fire_onnx_chain_begin(x, a, &c));
    if (v != NULL && v->state == FIRE_ONNX_CONST && v->t->count == 1 &&
        v->ndim <= c.ndim) {
        FIRE_TRY(threshold(x, &c, (float)fire_onnx_tensor_number(v->t, 0)));
    } else {
        FIRE_TRY(fire_onnx_chain_begin(x, b, &d));
        FIRE_TRY(fire_onnx_chain_spread(x, &c, d.ndim, d.dim));
        FIRE_TRY(fire_onnx_chain_spread(x, &d, c.ndim, c.dim));
        FIRE_TRY(fire_onnx_chain_eltwise(x, &c, &d, ELTWISE(SUM), -1));
        FIRE_TRY(threshold(x, &c, 0));
    }
    if (negated) FIRE_TRY(fire_onnx_chain_power(x, &c, 1, -1, 1));
    return fire_onnx_chain_end(x, 0, &c);
}

fire_status_t fire_onnx_take_greater(fire_onnx_import_t *x)
{
    return compare(x, 0, 1, false);
}

fire_status_t fire_onnx_take_less(fire_onnx_import_t *x)
{
    return compare(x, 1, 0, false);
}

fire_status_t fire_onnx_take_less_or_equal(fire_onnx_import_t *x)
{
    return compare(x, 0, 1, true);
}

fire_status_t fire_onnx_take_greater_or_equal(fire_onnx_import_t *x)
{
    return compare(x, 1, 0, true);
}

fire_status_t fire_onnx_take_not(fire_onnx_import_t *x)
{
    fire_onnx_chain_t c;

    FIRE_TRY(fire_onnx_chain_begin(x, 0, &c));
    FIRE_TRY(fire_onnx_chain_power(x, &c, 1, -1, 1));
    return fire_onnx_chain_end(x, 0, &c);
}

static fire_status_t both(fire_onnx_import_t *x, Caffe__EltwiseParameter__EltwiseOp op)
{
    fire_onnx_chain_t c, d;

    FIRE_TRY(fire_onnx_chain_begin(x, 0, &c));
    FIRE_TRY(fire_onnx_chain_begin(x, 1, &d));
    FIRE_TRY(fire_onnx_chain_spread(x, &c, d.ndim, d.dim));
    FIRE_TRY(fire_onnx_chain_spread(x, &d, c.ndim, c.dim));
    FIRE_TRY(fire_onnx_chain_eltwise(x, &c, &d, op, 1));
    return fire_onnx_chain_end(x, 0, &c);
}

fire_status_t fire_onnx_take_and(fire_onnx_import_t *x)
{
    return both(x, ELTWISE(PROD));
}

fire_status_t fire_onnx_take_or(fire_onnx_import_t *x)
{
    return both(x, ELTWISE(MAX));
}

/* Input i of Where. Where an infinite constant is not chosen, 0 times it would be NaN. */
static fire_status_t branch(fire_onnx_import_t *x, int i, fire_onnx_chain_t *c)
{
    const fire_onnx_operand_t *v = fire_onnx_input(x, i);

    FIRE_TRY(fire_onnx_chain_begin(x, i, c));
    if (v->state == FIRE_ONNX_CONST)
        FIRE_TRY(fire_onnx_chain_clip(x, c, -3.0e38, 3.0e38));
    return FIRE_OK;
}

/* condition a + (1 - condition) b; no gradient goes through the condition. */
fire_status_t fire_onnx_take_where(fire_onnx_import_t *x)
{
    fire_onnx_chain_t yes, no, a, b;

    FIRE_TRY(fire_onnx_chain_begin(x, 0, &yes));
    FIRE_TRY(branch(x, 1, &a));
    FIRE_TRY(branch(x, 2, &b));
    FIRE_TRY(fire_onnx_chain_spread(x, &yes, a.ndim, a.dim));
    FIRE_TRY(fire_onnx_chain_spread(x, &yes, b.ndim, b.dim));
    FIRE_TRY(fire_onnx_chain_spread(x, &a, yes.ndim, yes.dim));
    FIRE_TRY(fire_onnx_chain_spread(x, &b, yes.ndim, yes.dim));
    no = yes;
    FIRE_TRY(fire_onnx_chain_power(x, &no, 1, -1, 1));
    FIRE_TRY(fire_onnx_chain_eltwise(x, &a, &yes, ELTWISE(PROD), 1));
    FIRE_TRY(fire_onnx_chain_eltwise(x, &b, &no, ELTWISE(PROD), 1));
    FIRE_TRY(fire_onnx_chain_eltwise(x, &a, &b, ELTWISE(SUM), 1));
    return fire_onnx_chain_end(x, 0, &a);
}
