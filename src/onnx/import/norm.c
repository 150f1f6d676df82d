/* norm.c - BatchNormalization, LayerNormalization, LRN. */
#include <string.h>
#include "base/alloc.h"
#include "onnx/import/take.h"

/* ---- BatchNorm and Scale ---- */

/* Statistics as the layer keeps them: sums with a weight of 1. */
static fire_status_t add_norm(fire_onnx_import_t *x, const fire_onnx_operand_t *in,
                              const fire_onnx_tensor_t *const t[4], const char **blob_p)
{
    static const int64_t       one = 1;
    Caffe__BatchNormParameter *p;
    Caffe__LayerParameter     *l;
    float                     *weight, eps = fire_onnx_get_float(x, "epsilon", 1e-5f);

    FIRE_TRY(fire_onnx_step(x, "BatchNorm", in->blob, &l));
    FIRE_TRY(fire_onnx_freeze(l, 3));
    FIRE_ONNX_SETTINGS(l, "batch_norm_param", &p);
    p->has_moving_average_fraction = true;
    p->moving_average_fraction     = fire_onnx_get_float(x, "momentum", 0.9f);
    p->has_eps                     = eps != 1e-5f;
    p->eps                         = eps;
    FIRE_TRY(fire_onnx_give_tensor(x, t[2], 1, &in->dim[1]));
    FIRE_TRY(fire_onnx_give_tensor(x, t[3], 1, &in->dim[1]));
    FIRE_TRY(FIRE_NEW(&weight, 1));
    *weight = 1;
    *blob_p = l->top[0];
    return fire_onnx_give_floats(x, weight, 1, &one);
}

static fire_status_t add_scale(fire_onnx_import_t *x, const char *bottom, int axis,
                               const fire_onnx_tensor_t *gain,
                               const fire_onnx_tensor_t *shift, int64_t n,
                               const char **blob_p)
{
    Caffe__ScaleParameter *p;
    Caffe__LayerParameter *l;

    FIRE_TRY(fire_onnx_last(x, "Scale", bottom, &l));
    FIRE_ONNX_SETTINGS(l, "scale_param", &p);
    p->has_axis      = axis != 1;
    p->axis          = axis;
    p->has_bias_term = p->bias_term = shift != NULL;
    *blob_p                         = l->top[0];
    FIRE_TRY(fire_onnx_give_tensor(x, gain, 1, &n));
    return shift != NULL ? fire_onnx_give_tensor(x, shift, 1, &n) : FIRE_OK;
}

fire_status_t fire_onnx_take_batch_norm(fire_onnx_import_t *x)
{
    const fire_onnx_operand_t *in;
    const fire_onnx_tensor_t  *t[4];
    const char                *blob;

    FIRE_TRY(fire_onnx_blob(x, 0, &in));
    if (in->ndim < 2) return FIRE_FAIL(FIRE_ERR_PARSE, "the input has no channels");
    for (int i = 0; i < 4; i++) {
        FIRE_TRY(fire_onnx_constant(x, 1 + i, &t[i]));
        if (t[i]->count != in->dim[1] || fire_onnx_type_size(t[i]->type) == 0)
            return FIRE_FAIL(FIRE_ERR_PARSE, "%lld numbers for %lld channels",
                             (long long)t[i]->count, (long long)in->dim[1]);
    }
    FIRE_TRY(add_norm(x, in, t, &blob));
    FIRE_TRY(add_scale(x, blob, 1, t[0], t[1], in->dim[1], &blob));
    return fire_onnx_set_like(x, 0, blob, in);
}

/* ---- LayerNormalization ---- */

/* coeff times the mean of the last axis. */
static fire_status_t mean(fire_onnx_import_t *x, const char *bottom, int axis,
                          float coeff, const char **blob_p)
{
    Caffe__ReductionParameter *p;
    Caffe__LayerParameter     *l;

    FIRE_TRY(fire_onnx_step(x, "Reduction", bottom, &l));
    FIRE_ONNX_SETTINGS(l, "reduction_param", &p);
    p->has_operation = p->has_axis = true;
    p->operation                   = CAFFE__REDUCTION_PARAMETER__REDUCTION_OP__MEAN;
    p->axis                        = axis;
    p->has_coeff                   = coeff != 1;
    p->coeff                       = coeff;
    *blob_p                        = l->top[0];
    return FIRE_OK;
}

/* x - mean, and x / sqrt(mean of x^2 + eps): each value of `by` belongs to a row. */
static fire_status_t by_rows(fire_onnx_import_t *x, const char *type, const char *by,
                             const char **blob_p)
{
    Caffe__LayerParameter *l;

    FIRE_TRY(fire_onnx_step(x, type, *blob_p, &l));
    FIRE_TRY(fire_onnx_add_bottom(l, by));
    *blob_p = l->top[0];
    if (strcmp(type, "Bias") == 0) {
        Caffe__BiasParameter *p;

        FIRE_ONNX_SETTINGS(l, "bias_param", &p);
        p->has_axis = true;
        p->axis     = 0;
    } else {
        Caffe__ScaleParameter *p;

        FIRE_ONNX_SETTINGS(l, "scale_param", &p);
        p->has_axis = true;
        p->axis     = 0;
    }
    return FIRE_OK;
}

/* Of layers that there are: means, their difference, its squares' means, a product. */
fire_status_t fire_onnx_take_layer_norm(fire_onnx_import_t *x)
{
    const fire_onnx_operand_t *in;
    const fire_onnx_tensor_t  *gain, *shift = NULL;
    const char                *blob, *by;
    int                        axis;

    FIRE_TRY(fire_onnx_blob(x, 0, &in));
    FIRE_TRY(fire_onnx_axis(fire_onnx_get_int(x, "axis", -1), in->ndim, &axis));
    FIRE_TRY(fire_onnx_constant(x, 1, &gain));
    if (fire_onnx_input(x, 2) != NULL) FIRE_TRY(fire_onnx_constant(x, 2, &shift));
    if (axis != in->ndim - 1 || axis == 0)
        return FIRE_ONNX_LACKS("only the last axis can be normalised");
    FIRE_TRY(mean(x, in->blob, axis, -1, &by));
    blob = in->blob;
    FIRE_TRY(by_rows(x, "Bias", by, &blob));
    by = blob;
    FIRE_TRY(fire_onnx_power(x, false, &by, 2, 1, 0));
    FIRE_TRY(mean(x, by, axis, 1, &by));
    FIRE_TRY(fire_onnx_power(x, false, &by, -0.5f, 1,
                             fire_onnx_get_float(x, "epsilon", 1e-5f)));
    FIRE_TRY(by_rows(x, "Scale", by, &blob));
    FIRE_TRY(add_scale(x, blob, axis, gain, shift, in->dim[axis], &blob));
    return fire_onnx_set_like(x, 0, blob, in);
}

/* ---- LRN ---- */

fire_status_t fire_onnx_take_lrn(fire_onnx_import_t *x)
{
    Caffe__LRNParameter   *p;
    Caffe__LayerParameter *l;

    FIRE_TRY(fire_onnx_take_unary(x, "LRN", &l));
    FIRE_ONNX_SETTINGS(l, "lrn_param", &p);
    FIRE_TRY(fire_onnx_append_u32(p, "local_size", fire_onnx_get_int(x, "size", 0)));
    p->has_alpha = p->has_beta = p->has_k = true;
    p->alpha                              = fire_onnx_get_float(x, "alpha", 1e-4f);
    p->beta                               = fire_onnx_get_float(x, "beta", 0.75f);
    p->k                                  = fire_onnx_get_float(x, "bias", 1);
    return p->local_size % 2 == 1 ? FIRE_OK : FIRE_ONNX_LACKS("LRN needs an odd size");
}
