/* norm.c - BatchNormalization, normalisations of rows, Softmax, LRN. */
#include <string.h>
#include "base/alloc.h"
#include "onnx/import/chain.h"

#define REDUCE(op) CAFFE__REDUCTION_PARAMETER__REDUCTION_OP__##op

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
    if (fire_onnx_input(x, 0)->state == FIRE_ONNX_CONST &&
        fire_onnx_get_int(x, "training_mode", 0) != 0) /* weights by their own mean */
        p->has_use_global_stats = true;
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

/* ---- rows ---- */

/* (c - mean) / sqrt(variance + eps) of each row, the axes from `axis` on, made of layers
 * that there are; without centring, c / sqrt(mean of c^2 + eps). */
static fire_status_t normalise(fire_onnx_import_t *x, fire_onnx_chain_t *c, int axis,
                               bool centre, float eps)
{
    fire_onnx_chain_t by = *c;

    if (centre) {
        FIRE_TRY(fire_onnx_chain_reduce(x, &by, REDUCE(MEAN), axis, -1));
        FIRE_TRY(fire_onnx_chain_affine(x, c, "Bias", &by, 0));
        by = *c;
    }
    FIRE_TRY(fire_onnx_chain_power(x, &by, 2, 1, 0));
    FIRE_TRY(fire_onnx_chain_reduce(x, &by, REDUCE(MEAN), axis, 1));
    FIRE_TRY(fire_onnx_chain_power(x, &by, -0.5f, 1, eps));
    return fire_onnx_chain_affine(x, c, "Scale", &by, 0);
}

/* Times a parameter, plus another (NULL: none), of the axes [axis, axis + n). */
static fire_status_t add_affine(fire_onnx_import_t *x, fire_onnx_chain_t *c, int axis,
                                int n, const fire_onnx_tensor_t *gain,
                                const fire_onnx_tensor_t *shift)
{
    Caffe__ScaleParameter *p;
    Caffe__LayerParameter *l;

    FIRE_TRY(fire_onnx_chain_add(x, c, "Scale", &l));
    FIRE_ONNX_SETTINGS(l, "scale_param", &p);
    p->has_axis      = axis != 1;
    p->axis          = axis;
    p->has_num_axes  = n != 1;
    p->num_axes      = n;
    p->has_bias_term = p->bias_term = shift != NULL;
    FIRE_TRY(fire_onnx_give_tensor(x, gain, n, c->dim + axis));
    return shift != NULL ? fire_onnx_give_tensor(x, shift, n, c->dim + axis) : FIRE_OK;
}

/* LayerNormalization and RMSNormalization, of the axes from `axis` on. */
static fire_status_t layer_norm(fire_onnx_import_t *x, bool centre)
{
    const fire_onnx_tensor_t *gain, *shift = NULL;
    fire_onnx_chain_t         c;
    int                       axis, ndim;

    FIRE_TRY(fire_onnx_chain_begin(x, 0, &c));
    ndim = c.ndim;
    FIRE_TRY(fire_onnx_axis(fire_onnx_get_int(x, "axis", -1), ndim, &axis));
    FIRE_TRY(fire_onnx_constant(x, 1, &gain));
    if (centre && fire_onnx_input(x, 2) != NULL)
        FIRE_TRY(fire_onnx_constant(x, 2, &shift));
    for (int i = 1; i < 3; i++)
        if (fire_onnx_output(x, i) != NULL && fire_onnx_output(x, i)->nreader > 0)
            return FIRE_ONNX_LACKS("the mean and the deviation are no outputs");
    if (axis == 0) return FIRE_ONNX_LACKS("the first axis cannot be normalised");
    FIRE_TRY(normalise(x, &c, axis, centre, fire_onnx_get_float(x, "epsilon", 1e-5f)));
    FIRE_TRY(add_affine(x, &c, axis, ndim - axis, gain, shift));
    return fire_onnx_chain_end(x, 0, &c);
}

fire_status_t fire_onnx_take_layer_norm(fire_onnx_import_t *x)
{
    return layer_norm(x, true);
}

fire_status_t fire_onnx_take_rms_norm(fire_onnx_import_t *x)
{
    return layer_norm(x, false);
}

/* Each of `groups` of an item's channels is a row; gain and shift belong to channels. */
static fire_status_t group_norm(fire_onnx_import_t *x, int64_t groups)
{
    const fire_onnx_tensor_t *gain, *shift;
    fire_onnx_chain_t         c;
    int64_t                   dim[FIRE_MAX_DIMS], n;
    int                       ndim;

    FIRE_TRY(fire_onnx_chain_begin(x, 0, &c));
    FIRE_TRY(fire_onnx_constant(x, 1, &gain));
    FIRE_TRY(fire_onnx_constant(x, 2, &shift));
    ndim = c.ndim;
    memcpy(dim, c.dim, sizeof(dim));
    if (ndim < 2 || (groups > 0 && dim[1] % groups != 0) || groups < 0)
        return FIRE_FAIL(FIRE_ERR_PARSE, "%lld groups of channels", (long long)groups);
    if (groups == 0) groups = dim[1];
    if (gain->count != dim[1] || shift->count != dim[1])
        return FIRE_ONNX_LACKS("a gain for each group");
    FIRE_TRY(fire_onnx_elements(ndim - 1, dim + 1, &n));
    FIRE_TRY(
        fire_onnx_chain_reshape(x, &c, 3, (int64_t[]){dim[0], groups, n / groups}));
    FIRE_TRY(normalise(x, &c, 2, true, fire_onnx_get_float(x, "epsilon", 1e-5f)));
    FIRE_TRY(fire_onnx_chain_reshape(x, &c, ndim, dim));
    FIRE_TRY(add_affine(x, &c, 1, 1, gain, shift));
    return fire_onnx_chain_end(x, 0, &c);
}

fire_status_t fire_onnx_take_instance_norm(fire_onnx_import_t *x)
{
    return group_norm(x, 0);
}

fire_status_t fire_onnx_take_group_norm(fire_onnx_import_t *x)
{
    int64_t groups = fire_onnx_get_int(x, "num_groups", 0);

    if (groups < 1) return FIRE_FAIL(FIRE_ERR_PARSE, "num_groups is missing");
    return group_norm(x, groups);
}

/* x / sqrt(sum of x^2) along an axis, which goes behind the others. */
fire_status_t fire_onnx_take_lp_norm(fire_onnx_import_t *x)
{
    fire_onnx_chain_t c, by;
    int               axis, order[FIRE_MAX_DIMS], back[FIRE_MAX_DIMS], n = 0;

    if (fire_onnx_get_int(x, "p", 2) != 2) return FIRE_ONNX_LACKS("p must be 2");
    FIRE_TRY(fire_onnx_chain_begin(x, 0, &c));
    FIRE_TRY(fire_onnx_axis(fire_onnx_get_int(x, "axis", -1), c.ndim, &axis));
    for (int i = 0; i < c.ndim; i++)
        if (i != axis) order[n++] = i;
    order[n] = axis;
    for (int i = 0; i < c.ndim; i++)
        back[order[i]] = i;
    FIRE_TRY(fire_onnx_chain_permute(x, &c, order));
    by = c;
    FIRE_TRY(fire_onnx_chain_reduce(x, &by, REDUCE(SUMSQ), n, 1));
    FIRE_TRY(fire_onnx_chain_power(x, &by, -0.5f, 1, 0));
    FIRE_TRY(fire_onnx_chain_affine(x, &c, "Scale", &by, 0));
    FIRE_TRY(fire_onnx_chain_permute(x, &c, back));
    return fire_onnx_chain_end(x, 0, &c);
}

/* ---- Softmax ---- */

static fire_status_t softmax(fire_onnx_import_t *x, fire_onnx_chain_t *c, int axis)
{
    Caffe__SoftmaxParameter *p;
    Caffe__LayerParameter   *l;

    FIRE_TRY(fire_onnx_chain_add(x, c, "Softmax", &l));
    if (axis == 1) return FIRE_OK;
    FIRE_ONNX_SETTINGS(l, "softmax_param", &p);
    p->has_axis = true;
    p->axis     = axis;
    return FIRE_OK;
}

/* Before version 13 all axes from `axis` on are one. */
static fire_status_t take_softmax(fire_onnx_import_t *x, bool logarithm)
{
    bool                   old = x->m->opset < 13;
    fire_onnx_chain_t      c;
    Caffe__LayerParameter *l;
    int64_t                dim[FIRE_MAX_DIMS], n;
    int                    axis, ndim;

    FIRE_TRY(fire_onnx_chain_begin(x, 0, &c));
    FIRE_TRY(fire_onnx_axis(fire_onnx_get_int(x, "axis", old ? 1 : -1), c.ndim, &axis));
    ndim = c.ndim;
    memcpy(dim, c.dim, sizeof(dim));
    if (old && axis < ndim - 1) {
        FIRE_TRY(fire_onnx_elements(ndim - axis, dim + axis, &n));
        dim[axis] = n;
        FIRE_TRY(fire_onnx_chain_reshape(x, &c, axis + 1, dim));
    }
    FIRE_TRY(softmax(x, &c, axis));
    if (logarithm) FIRE_TRY(fire_onnx_chain_add(x, &c, "Log", &l));
    FIRE_TRY(fire_onnx_chain_reshape(x, &c, ndim, fire_onnx_input(x, 0)->dim));
    return fire_onnx_chain_end(x, 0, &c);
}

fire_status_t fire_onnx_take_softmax(fire_onnx_import_t *x)
{
    return take_softmax(x, false);
}

fire_status_t fire_onnx_take_log_softmax(fire_onnx_import_t *x)
{
    return take_softmax(x, true);
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
