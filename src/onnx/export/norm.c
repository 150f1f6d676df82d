/* norm.c - normalisations, and multiplying and adding parameters. */
#include <string.h>
#include "layers/norm/scale.h"

#include "base/alloc.h"
#include "layers/lrn/lrn.h"
#include "layers/norm/batch_norm.h"
#include "layers/pooling/pool.h"
#include "onnx/export/put.h"

/* ---- Scale and Bias ---- */

/* The shape of an operand that begins on axis `axis` of bottom 0 among the trailing axes:
 * its own axes, then ones. Returns how many. */
static int operand_shape(const fire_layer_t *l, const fire_blob_t *operand, int axis,
                         int64_t *dim)
{
    int ndim = l->bottom[0]->ndim;

    if (operand->ndim == 0) return 0;
    if (axis < 0) axis += ndim;
    for (int i = axis; i < ndim; i++)
        dim[i - axis] = i - axis < operand->ndim ? operand->dim[i - axis] : 1;
    return ndim - axis;
}

/* A parameter, or bottom 1 in the shape that broadcasts. */
static const char *operand(fire_onnx_export_t *x, int axis, int blob,
                           const char *suffix)
{
    const fire_layer_t *l = x->layer;
    const fire_blob_t  *b = blob < 0 ? l->bottom[1] : l->blob[blob];
    int64_t             dim[FIRE_MAX_DIMS];
    bool                varies[FIRE_MAX_DIMS] = {false};
    int                 n                     = operand_shape(l, b, axis, dim);

    if (blob >= 0) return fire_onnx_param_as(x, blob, suffix, n, dim);
    if (n == b->ndim) return fire_onnx_in(x, 1);
    for (int i = 0; i < b->ndim; i++)
        varies[i] = fire_onnx_varies(x, b, i);
    return fire_onnx_reshape_to(x, fire_onnx_in(x, 1), NULL, b, n, dim, varies);
}

void fire_onnx_put_scale(fire_onnx_export_t *x)
{
    const fire_scale_t *s  = FIRE_STATE(x->layer, fire_scale_t);
    const char         *in = fire_onnx_in(x, 0), *v;
    const char *gain = operand(x, s->axis, x->layer->nbottom > 1 ? -1 : 0, "gain");

    v = fire_onnx_op(x, "Mul", s->bias < 0 ? fire_onnx_out(x, 0) : NULL, in, gain,
                     NULL);
    if (s->bias >= 0)
        fire_onnx_op(x, "Add", fire_onnx_out(x, 0), v,
                     operand(x, s->axis, s->bias, "bias"), NULL);
}

void fire_onnx_put_bias(fire_onnx_export_t *x)
{
    const fire_bias_t *s = FIRE_STATE(x->layer, fire_bias_t);
    const char *bias     = operand(x, s->axis, x->layer->nbottom > 1 ? -1 : 0, "bias");

    fire_onnx_op(x, "Add", fire_onnx_out(x, 0), fire_onnx_in(x, 0), bias, NULL);
}

/* ---- BatchNorm ---- */

/* Number of the Scale with one gain for each channel that alone reads the top; -1: there
 * is none. */
static int scale_behind(const fire_onnx_export_t *x)
{
    const fire_blob_t *top = x->layer->top[0];

    for (int i = x->index + 1; i < x->net->nlayer; i++) {
        const fire_layer_t *l = &x->net->layer[i].base;

        if (l->nbottom == 0 || l->bottom[0] != top) continue;
        return l->nbottom == 1 && strcmp(l->ops->type, "Scale") == 0 &&
                       l->blob[0]->ndim == 1 && FIRE_STATE(l, fire_scale_t)->axis == 1
                   ? i
                   : -1;
    }
    return -1;
}

static const char *channel_constant(fire_onnx_export_t *x, int64_t n, float value)
{
    float      *values;
    const char *name;

    if (x->st >= 0) x->st = FIRE_NEW(&values, n);
    if (x->st < 0) return "";
    for (int64_t i = 0; i < n; i++)
        values[i] = value;
    name = fire_onnx_floats(x, 1, &n, values);
    fire_free(values);
    return name;
}

/* The mean and variance that the layer divides its sums for. */
static void statistics(fire_onnx_export_t *x, int64_t n, const char *name[2])
{
    float *mean;

    name[0] = name[1] = "";
    if (x->st >= 0) x->st = FIRE_NEW(&mean, 2 * n);
    if (x->st < 0) return;
    x->st = fire_batch_norm_read((fire_layer_t *)x->layer, mean, mean + n);
    for (int i = 0; i < 2; i++)
        name[i] = fire_onnx_floats(x, 1, &n, mean + i * n);
    fire_free(mean);
}

/* The mean of each channel over the batch and all places, (1, C, 1, ...). */
static const char *channel_mean(fire_onnx_export_t *x, const char *in)
{
    int n = x->layer->bottom[0]->ndim;

    if (n > 2) in = fire_onnx_reduce(x, "ReduceMean", in, NULL, 2, n, true);
    return fire_onnx_reduce(x, "ReduceMean", in, NULL, 0, 1, true);
}

/* By the batch's own statistics: (x - mean) / sqrt(variance + eps), times gain, plus
 * shift. */
static void by_batch(fire_onnx_export_t *x, const fire_batch_norm_t *s)
{
    int64_t     dim[FIRE_MAX_DIMS] = {s->view.dim};
    int         n                  = x->layer->bottom[0]->ndim - 1;
    bool        gain               = s->at.gain >= 0;
    const char *v                  = fire_onnx_in(x, 0), *scale;

    if (x->layer->ntop > 1) fire_onnx_refuse(x, "its statistics are no outputs");
    for (int i = 1; i < n; i++)
        dim[i] = 1;
    v     = fire_onnx_op(x, "Sub", NULL, v, channel_mean(x, v), NULL);
    scale = channel_mean(x, fire_onnx_op(x, "Mul", NULL, v, v, NULL));
    scale = fire_onnx_op(x, "Add", NULL, scale, fire_onnx_scalar(x, s->eps), NULL);
    scale = fire_onnx_op(x, "Sqrt", NULL, scale, NULL);
    v     = fire_onnx_op(x, "Div", gain ? NULL : fire_onnx_out(x, 0), v, scale, NULL);
    if (!gain) return;
    v = fire_onnx_op(x, "Mul", NULL, v,
                     fire_onnx_param_as(x, s->at.gain, "gain", n, dim), NULL);
    fire_onnx_op(x, "Add", fire_onnx_out(x, 0), v,
                 fire_onnx_param_as(x, s->at.shift, "shift", n, dim), NULL);
}

/* BatchNorm, BN and CuDNNBatchNorm: with gain and shift of their own, those of a Scale
 * behind it, or ones and zeros. */
void fire_onnx_put_batch_norm(fire_onnx_export_t *x)
{
    const fire_layer_t      *l = x->layer;
    const fire_batch_norm_t *s = FIRE_STATE(l, fire_batch_norm_t);
    int64_t                  n = s->view.dim;
    const char *in = fire_onnx_in(x, 0), *gain = NULL, *shift = NULL, *stat[2];
    int         next = s->at.gain >= 0 ? -1 : scale_behind(x);

    if (!s->use_global) {
        by_batch(x, s);
        return;
    }
    statistics(x, n, stat);
    if (next >= 0) {
        x->done[next] = true;
        x->index      = next;
        x->layer      = &x->net->layer[next].base;
        gain          = fire_onnx_param(x, 0, "gain");
        if (FIRE_STATE(x->layer, fire_scale_t)->bias >= 0)
            shift = fire_onnx_param(x, 1, "shift");
    } else if (s->at.gain >= 0) {
        gain  = fire_onnx_param_as(x, s->at.gain, "gain", 1, &n);
        shift = fire_onnx_param_as(x, s->at.shift, "shift", 1, &n);
    }
    if (gain == NULL) gain = channel_constant(x, n, 1.0f);
    if (shift == NULL) shift = channel_constant(x, n, 0.0f);
    fire_onnx_op(x, "BatchNormalization", fire_onnx_out(x, 0), in, gain, shift, stat[0],
                 stat[1], NULL);
    fire_onnx_float(x, "epsilon", s->eps);
}

/* ---- LRN ---- */

/* x (1 + alpha mean of x^2 over the places around) ^ -beta */
static void within_channel(fire_onnx_export_t *x, const fire_lrn_t *s)
{
    const int64_t      *dim = x->layer->bottom[0]->dim, pad = (s->size - 1) / 2;
    fire_pool_windows_t p  = {.kernel = {s->size, s->size},
                              .stride = {1, 1},
                              .pad    = {pad, pad},
                              .in     = {dim[2], dim[3]},
                              .out    = {dim[2], dim[3]}};
    const char         *in = fire_onnx_in(x, 0), *v;

    v = fire_onnx_op(x, "Mul", NULL, in, in, NULL);
    v = fire_onnx_pool(x, v, NULL, &p, true);
    v = fire_onnx_op(x, "Mul", NULL, v, fire_onnx_scalar(x, s->alpha), NULL);
    v = fire_onnx_op(x, "Add", NULL, v, fire_onnx_scalar(x, 1.0f), NULL);
    v = fire_onnx_op(x, "Pow", NULL, v, fire_onnx_scalar(x, -s->beta), NULL);
    fire_onnx_op(x, "Mul", fire_onnx_out(x, 0), in, v, NULL);
}

void fire_onnx_put_lrn(fire_onnx_export_t *x)
{
    const fire_lrn_t *s = FIRE_STATE(x->layer, fire_lrn_t);

    if (s->within) {
        within_channel(x, s);
        return;
    }
    fire_onnx_op(x, "LRN", fire_onnx_out(x, 0), fire_onnx_in(x, 0), NULL);
    fire_onnx_int(x, "size", s->size);
    fire_onnx_float(x, "alpha", s->alpha);
    fire_onnx_float(x, "beta", s->beta);
    fire_onnx_float(x, "bias", s->k);
}

/* ---- MVN and Normalize ---- */

/* The top always has 4 axes. */
void fire_onnx_put_mvn(fire_onnx_export_t *x)
{
    const fire_layer_t        *l     = x->layer;
    const Caffe__MVNParameter *p     = l->param->mvn_param,
                              preset = CAFFE__MVNPARAMETER__INIT;
    const char *in                   = fire_onnx_in(x, 0), *mean, *v;
    int         first;

    if (p == NULL) p = &preset;
    first = p->across_channels ? 1 : 2;
    if (l->bottom[0]->ndim != 4)
        in = fire_onnx_reshape(x, in, NULL, l->bottom[0], l->top[0]);
    mean = fire_onnx_reduce(x, "ReduceMean", in, NULL, first, 4, true);
    v    = p->normalize_variance ? NULL : fire_onnx_out(x, 0);
    v    = fire_onnx_op(x, "Sub", v, in, mean, NULL);
    if (!p->normalize_variance) return;
    in = v;
    v  = fire_onnx_op(x, "Mul", NULL, in, in, NULL);
    v  = fire_onnx_reduce(x, "ReduceMean", v, NULL, first, 4, true);
    v  = fire_onnx_op(x, "Sqrt", NULL, v, NULL);
    v  = fire_onnx_op(x, "Add", NULL, v, fire_onnx_scalar(x, p->eps), NULL);
    fire_onnx_op(x, "Div", fire_onnx_out(x, 0), in, v, NULL);
}

/* g x / sqrt(sum of x^2 + eps) */
void fire_onnx_put_normalize(fire_onnx_export_t *x)
{
    const fire_layer_t              *l      = x->layer;
    const Caffe__NormalizeParameter  preset = CAFFE__NORMALIZE_PARAMETER__INIT;
    const Caffe__NormalizeParameter *p      = l->param->norm_param;
    int                              ndim   = l->bottom[0]->ndim;
    int64_t                          dim[FIRE_MAX_DIMS] = {l->blob[0]->count};
    const char                      *in                 = fire_onnx_in(x, 0), *v;

    if (p == NULL) p = &preset;
    for (int i = 1; i < ndim - 1; i++)
        dim[i] = 1;
    v = fire_onnx_op(x, "Mul", NULL, in, in, NULL);
    v = fire_onnx_reduce(x, "ReduceSum", v, NULL, 1, p->across_spatial ? ndim : 2,
                         true);
    v = fire_onnx_op(x, "Add", NULL, v, fire_onnx_scalar(x, p->eps), NULL);
    v = fire_onnx_op(x, "Sqrt", NULL, v, NULL);
    v = fire_onnx_op(x, "Div", NULL, in, v, NULL);
    fire_onnx_op(x, "Mul", fire_onnx_out(x, 0), v,
                 fire_onnx_param_as(x, 0, "gain", ndim - 1, dim), NULL);
}
