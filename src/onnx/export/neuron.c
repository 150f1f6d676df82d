/* neuron.c - element-wise layers. */
#include "onnx/export/put.h"

#include <math.h>

static void unary(fire_onnx_export_t *x, const char *op)
{
    fire_onnx_op(x, op, fire_onnx_out(x, 0), fire_onnx_in(x, 0), NULL);
}

void fire_onnx_put_absval(fire_onnx_export_t *x)
{
    unary(x, "Abs");
}

void fire_onnx_put_bnll(fire_onnx_export_t *x)
{
    unary(x, "Softplus");
}

void fire_onnx_put_sigmoid(fire_onnx_export_t *x)
{
    unary(x, "Sigmoid");
}

void fire_onnx_put_tanh(fire_onnx_export_t *x)
{
    unary(x, "Tanh");
}

/* What does nothing in inference. */
void fire_onnx_put_nothing(fire_onnx_export_t *x)
{
    fire_onnx_same(x, fire_onnx_in(x, 0), 0);
}

void fire_onnx_put_relu(fire_onnx_export_t *x)
{
    const Caffe__ReLUParameter *p = x->layer->param->relu_param;

    if (p == NULL || p->negative_slope == 0.0f) {
        unary(x, "Relu");
        return;
    }
    unary(x, "LeakyRelu");
    fire_onnx_float(x, "alpha", p->negative_slope);
}

/* As the layer has them: the schema's defaults have six digits. */
void fire_onnx_put_selu(fire_onnx_export_t *x)
{
    const Caffe__SeLuParameter *p = x->layer->param->selu_param;

    unary(x, "Selu");
    fire_onnx_float(x, "gamma",
                    p != NULL && p->has_lambda ? p->lambda : 1.0507009873554805f);
    fire_onnx_float(x, "alpha",
                    p != NULL && p->has_alpha ? p->alpha : 1.6732632423543772f);
}

static void clip(fire_onnx_export_t *x, float low, float high)
{
    const char *in = fire_onnx_in(x, 0), *least = fire_onnx_scalar(x, low);

    fire_onnx_op(x, "Clip", fire_onnx_out(x, 0), in, least, fire_onnx_scalar(x, high),
                 NULL);
}

void fire_onnx_put_relu6(fire_onnx_export_t *x)
{
    clip(x, 0.0f, 6.0f);
}

void fire_onnx_put_clip(fire_onnx_export_t *x)
{
    clip(x, x->layer->param->clip_param->min, x->layer->param->clip_param->max);
}

void fire_onnx_put_elu(fire_onnx_export_t *x)
{
    const Caffe__ELUParameter *p = x->layer->param->elu_param;

    unary(x, "Elu");
    fire_onnx_float(x, "alpha", p != NULL ? p->alpha : 1.0f);
}

/* The slopes (C), or one for all, get the trailing axes of the input. */
void fire_onnx_put_prelu(fire_onnx_export_t *x)
{
    const char *in                 = fire_onnx_in(x, 0);
    int64_t     dim[FIRE_MAX_DIMS] = {x->layer->blob[0]->count};
    int         ndim               = x->layer->bottom[0]->ndim - 1;

    for (int i = 1; i < ndim; i++)
        dim[i] = 1;
    fire_onnx_op(x, "PRelu", fire_onnx_out(x, 0), in,
                 fire_onnx_param_as(x, 0, "slope", ndim < 1 ? 1 : ndim, dim), NULL);
}

/* x sigmoid(beta x) */
void fire_onnx_put_swish(fire_onnx_export_t *x)
{
    const Caffe__SwishParameter *p  = x->layer->param->swish_param;
    const char                  *in = fire_onnx_in(x, 0), *gate = in;

    if (p != NULL && p->beta != 1.0f)
        gate = fire_onnx_op(x, "Mul", NULL, in, fire_onnx_scalar(x, p->beta), NULL);
    gate = fire_onnx_op(x, "Sigmoid", NULL, gate, NULL);
    fire_onnx_op(x, "Mul", fire_onnx_out(x, 0), in, gate, NULL);
}

/* x Phi(x) = x / 2 (1 + erf(x / sqrt(2))); an operator of its own since version 20. */
void fire_onnx_put_gelu(fire_onnx_export_t *x)
{
    const char *in = fire_onnx_in(x, 0), *v;

    if (x->opset >= 20) {
        unary(x, "Gelu");
        return;
    }
    v = fire_onnx_op(x, "Mul", NULL, in, fire_onnx_scalar(x, (float)M_SQRT1_2), NULL);
    v = fire_onnx_op(x, "Erf", NULL, v, NULL);
    v = fire_onnx_op(x, "Add", NULL, v, fire_onnx_scalar(x, 1.0f), NULL);
    v = fire_onnx_op(x, "Mul", NULL, in, v, NULL);
    fire_onnx_op(x, "Mul", fire_onnx_out(x, 0), v, fire_onnx_scalar(x, 0.5f), NULL);
}

void fire_onnx_put_hard_swish(fire_onnx_export_t *x)
{
    const char *in = fire_onnx_in(x, 0), *gate;

    if (x->opset >= 14) {
        unary(x, "HardSwish");
        return;
    }
    gate = fire_onnx_op(x, "HardSigmoid", NULL, in, NULL);
    fire_onnx_float(x, "alpha", 1.0f / 6.0f);
    fire_onnx_float(x, "beta", 0.5f);
    fire_onnx_op(x, "Mul", fire_onnx_out(x, 0), in, gate, NULL);
}

/* scale x + shift; steps that change nothing are left out. */
static const char *affine(fire_onnx_export_t *x, const char *in, float scale,
                          float shift)
{
    if (scale != 1.0f)
        in = fire_onnx_op(x, "Mul", NULL, in, fire_onnx_scalar(x, scale), NULL);
    if (shift != 0.0f)
        in = fire_onnx_op(x, "Add", NULL, in, fire_onnx_scalar(x, shift), NULL);
    return in;
}

/* Does nothing in inference, unless training left the scale to it. */
void fire_onnx_put_dropout(fire_onnx_export_t *x)
{
    const Caffe__DropoutParameter *p = x->layer->param->dropout_param;

    if (p == NULL || p->scale_train)
        fire_onnx_same(x, fire_onnx_in(x, 0), 0);
    else
        fire_onnx_op(x, "Mul", fire_onnx_out(x, 0), fire_onnx_in(x, 0),
                     fire_onnx_scalar(x, 1.0f - p->dropout_ratio), NULL);
}

/* (shift + scale x) ^ power */
void fire_onnx_put_power(fire_onnx_export_t *x)
{
    static const Caffe__PowerParameter preset = CAFFE__POWER_PARAMETER__INIT;
    const Caffe__PowerParameter       *p      = x->layer->param->power_param;
    const char                        *v;

    if (p == NULL) p = &preset;
    v = affine(x, fire_onnx_in(x, 0), p->scale, p->shift);
    if (p->power == 1.0f)
        fire_onnx_same(x, v, 0);
    else
        fire_onnx_op(x, "Pow", fire_onnx_out(x, 0), v, fire_onnx_scalar(x, p->power),
                     NULL);
}

/* base ^ (shift + scale x), base e where it is -1 */
void fire_onnx_put_exp(fire_onnx_export_t *x)
{
    static const Caffe__ExpParameter preset = CAFFE__EXP_PARAMETER__INIT;
    const Caffe__ExpParameter       *p      = x->layer->param->exp_param;
    float                            log_base;

    if (p == NULL) p = &preset;
    log_base = p->base == -1.0f ? 1.0f : logf(p->base);
    fire_onnx_op(
        x, "Exp", fire_onnx_out(x, 0),
        affine(x, fire_onnx_in(x, 0), log_base * p->scale, log_base * p->shift), NULL);
}

/* log(shift + scale x) / log(base) */
void fire_onnx_put_log(fire_onnx_export_t *x)
{
    static const Caffe__LogParameter preset = CAFFE__LOG_PARAMETER__INIT;
    const Caffe__LogParameter       *p      = x->layer->param->log_param;
    const char                      *v;

    if (p == NULL) p = &preset;
    v = affine(x, fire_onnx_in(x, 0), p->scale, p->shift);
    if (p->base == -1.0f) {
        fire_onnx_op(x, "Log", fire_onnx_out(x, 0), v, NULL);
        return;
    }
    v = fire_onnx_op(x, "Log", NULL, v, NULL);
    fire_onnx_op(x, "Mul", fire_onnx_out(x, 0), v,
                 fire_onnx_scalar(x, 1.0f / logf(p->base)), NULL);
}

/* 1 where x > threshold, else 0 */
void fire_onnx_put_threshold(fire_onnx_export_t *x)
{
    const Caffe__ThresholdParameter *p = x->layer->param->threshold_param;
    const char                      *v;

    v = fire_onnx_op(x, "Greater", NULL, fire_onnx_in(x, 0),
                     fire_onnx_scalar(x, p != NULL ? p->threshold : 0.0f), NULL);
    fire_onnx_op(x, "Cast", fire_onnx_out(x, 0), v, NULL);
    fire_onnx_int(x, "to", FIRE_ONNX(FLOAT));
}
