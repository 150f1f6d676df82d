/* chain.c - see chain.h. */
#include "onnx/import/chain.h"

#include <string.h>
#include "base/alloc.h"
#include "onnx/import/known.h"

/* ---- the ends ---- */

static fire_status_t add_parameter(fire_onnx_import_t *x, int ndim, const int64_t *dim,
                                   bool learned, const char **blob_p)
{
    Caffe__ParameterParameter *p;
    Caffe__BlobShape          *shape;
    Caffe__LayerParameter     *l;

    FIRE_TRY(fire_onnx_step(x, "Parameter", NULL, &l));
    if (!learned) FIRE_TRY(fire_onnx_freeze(l, 1));
    FIRE_ONNX_SETTINGS(l, "parameter_param", &p);
    FIRE_ONNX_SETTINGS(p, "shape", &shape);
    for (int i = 0; i < ndim; i++)
        FIRE_TRY(fire_message_put(shape, fire_field_find(shape->base.descriptor, "dim"),
                                  &dim[i]));
    *blob_p = l->top[0];
    return FIRE_OK;
}

fire_status_t fire_onnx_chain_constant(fire_onnx_import_t       *x,
                                       const fire_onnx_tensor_t *t, bool learned,
                                       int ndim, const int64_t *dim,
                                       fire_onnx_chain_t *c)
{
    int64_t n;

    if (fire_onnx_type_size(t->type) == 0)
        return FIRE_ONNX_LACKS("a constant that is no numbers");
    FIRE_TRY(fire_onnx_elements(ndim, dim, &n));
    FIRE_TRY(add_parameter(x, ndim, dim, learned, &c->blob));
    c->ndim = ndim;
    if (ndim > 0) memcpy(c->dim, dim, (size_t)ndim * sizeof(*dim));
    return fire_onnx_give_tensor(x, t, ndim, dim);
}

/* Is the tensor one of the model's own floats? Then it is a weight. */
static bool is_weight(const fire_onnx_import_t *x, const fire_onnx_tensor_t *t)
{
    return t >= x->m->tensor && t < x->m->tensor + x->m->ntensor &&
           t->type == FIRE_ONNX(FLOAT);
}

fire_status_t fire_onnx_chain_begin(fire_onnx_import_t *x, int i, fire_onnx_chain_t *c)
{
    const fire_onnx_operand_t *v = fire_onnx_input(x, i);

    if (v == NULL) return FIRE_FAIL(FIRE_ERR_PARSE, "input %d is missing", i);
    if (v->state == FIRE_ONNX_CONST)
        return fire_onnx_chain_constant(x, v->t, is_weight(x, v->t), v->ndim, v->dim,
                                        c);
    c->blob = v->blob;
    c->ndim = v->ndim;
    memcpy(c->dim, v->dim, sizeof(c->dim));
    return FIRE_OK;
}

static fire_status_t rename_text(char **text_p, const char *name)
{
    char *copy;

    FIRE_TRY(fire_strdup(name, &copy));
    fire_free(*text_p);
    *text_p = copy;
    return FIRE_OK;
}

fire_status_t fire_onnx_chain_end(fire_onnx_import_t *x, int i,
                                  const fire_onnx_chain_t *c)
{
    fire_onnx_operand_t   *v = fire_onnx_output(x, i);
    Caffe__LayerParameter *l;
    const char            *name, *blob = c->blob;
    char                 **top = NULL;

    if (v == NULL) return FIRE_OK;
    for (size_t k = x->net->n_layer; k > x->first; k--) {
        l = x->net->layer[k - 1];
        for (size_t t = 0; t < l->n_top && top == NULL; t++)
            if (l->top[t] == c->blob) top = &l->top[t];
        if (top == NULL) continue;
        if (i == 0) {
            FIRE_TRY(fire_onnx_layer_name(x, NULL, &name));
            FIRE_TRY(rename_text(&l->name, name));
            FIRE_TRY(rename_text(top, v->is_output ? v->name : name));
        } else if (v->is_output) {
            FIRE_TRY(rename_text(top, v->name));
        }
        return fire_onnx_set_blob(x, i, *top, c->ndim, c->dim);
    }
    if (v->is_output) { /* nothing to do, but the output has its own name */
        FIRE_TRY(fire_onnx_step(x, "Split", blob, &l));
        FIRE_TRY(rename_text(&l->top[0], v->name));
        blob = l->top[0];
    }
    return fire_onnx_set_blob(x, i, blob, c->ndim, c->dim);
}

/* ---- element by element ---- */

fire_status_t fire_onnx_chain_add(fire_onnx_import_t *x, fire_onnx_chain_t *c,
                                  const char *type, Caffe__LayerParameter **l_p)
{
    FIRE_TRY(fire_onnx_step(x, type, c->blob, l_p));
    c->blob = (*l_p)->top[0];
    return FIRE_OK;
}

fire_status_t fire_onnx_chain_power(fire_onnx_import_t *x, fire_onnx_chain_t *c,
                                    float power, float scale, float shift)
{
    return fire_onnx_power(x, false, &c->blob, power, scale, shift);
}

fire_status_t fire_onnx_chain_eltwise(fire_onnx_import_t *x, fire_onnx_chain_t *c,
                                      const fire_onnx_chain_t           *d,
                                      Caffe__EltwiseParameter__EltwiseOp op,
                                      float                              second)
{
    const float              coeff[2] = {1, second};
    Caffe__EltwiseParameter *p;
    Caffe__LayerParameter   *l;

    FIRE_TRY(fire_onnx_chain_add(x, c, "Eltwise", &l));
    FIRE_TRY(fire_onnx_add_bottom(l, d->blob));
    FIRE_ONNX_SETTINGS(l, "eltwise_param", &p);
    p->has_operation = true;
    p->operation     = op;
    for (int i = 0; i < 2 && second != 1; i++)
        FIRE_TRY(fire_message_put(p, fire_field_find(p->base.descriptor, "coeff"),
                                  &coeff[i]));
    return FIRE_OK;
}

fire_status_t fire_onnx_set_axis(Caffe__LayerParameter *l, int axis)
{
    if (strcmp(l->type, "Bias") == 0) {
        Caffe__BiasParameter *p;

        FIRE_ONNX_SETTINGS(l, "bias_param", &p);
        p->has_axis = true;
        p->axis     = axis;
    } else {
        Caffe__ScaleParameter *p;

        FIRE_ONNX_SETTINGS(l, "scale_param", &p);
        p->has_axis = true;
        p->axis     = axis;
    }
    return FIRE_OK;
}

fire_status_t fire_onnx_chain_affine(fire_onnx_import_t *x, fire_onnx_chain_t *c,
                                     const char *type, const fire_onnx_chain_t *by,
                                     int axis)
{
    Caffe__LayerParameter *l;

    FIRE_TRY(fire_onnx_chain_add(x, c, type, &l));
    FIRE_TRY(fire_onnx_add_bottom(l, by->blob));
    return fire_onnx_set_axis(l, axis);
}

static fire_status_t put_factor(Caffe__LayerParameter *l, int axis)
{
    Caffe__ScaleParameter *p;

    FIRE_TRY(fire_onnx_freeze(l, 1));
    FIRE_ONNX_SETTINGS(l, "scale_param", &p);
    p->has_axis = p->has_num_axes = true;
    p->axis                       = axis;
    p->num_axes                   = 2;
    return FIRE_OK;
}

fire_status_t fire_onnx_chain_factor(fire_onnx_import_t *x, fire_onnx_chain_t *c,
                                     float *factor, int axis, int64_t h, int64_t w)
{
    Caffe__LayerParameter *l;
    const int64_t          dim[2] = {h, w};
    fire_status_t          st     = fire_onnx_chain_add(x, c, "Scale", &l);

    if (st >= 0) st = put_factor(l, axis);
    if (st >= 0) return fire_onnx_give_floats(x, factor, 2, dim);
    fire_free(factor);
    return st;
}

/* ---- shapes ---- */

fire_status_t fire_onnx_chain_reshape(fire_onnx_import_t *x, fire_onnx_chain_t *c,
                                      int ndim, const int64_t *dim)
{
    if (ndim == c->ndim && memcmp(dim, c->dim, (size_t)ndim * sizeof(*dim)) == 0)
        return FIRE_OK;
    FIRE_TRY(fire_onnx_reshape_blob(x, false, &c->blob, c->ndim, c->dim, ndim, dim));
    c->ndim = ndim;
    if (ndim > 0) memmove(c->dim, dim, (size_t)ndim * sizeof(*dim));
    return FIRE_OK;
}

fire_status_t fire_onnx_chain_permute(fire_onnx_import_t *x, fire_onnx_chain_t *c,
                                      const int *order)
{
    int64_t                  dim[FIRE_MAX_DIMS];
    Caffe__PermuteParameter *p;
    Caffe__LayerParameter   *l;
    bool                     moves = false;

    for (int i = 0; i < c->ndim; i++) {
        moves |= order[i] != i;
        dim[i] = c->dim[order[i]];
    }
    if (!moves) return FIRE_OK;
    FIRE_TRY(fire_onnx_chain_add(x, c, "Permute", &l));
    FIRE_ONNX_SETTINGS(l, "permute_param", &p);
    for (int i = 0; i < c->ndim; i++)
        FIRE_TRY(fire_onnx_append_u32(p, "order", order[i]));
    memcpy(c->dim, dim, (size_t)c->ndim * sizeof(*dim));
    return FIRE_OK;
}

/* What is cut off before and behind is silenced. */
fire_status_t fire_onnx_chain_cut(fire_onnx_import_t *x, fire_onnx_chain_t *c, int axis,
                                  int64_t begin, int64_t end)
{
    Caffe__LayerParameter *l, *silence;
    Caffe__SliceParameter *p;
    char                  *first;
    size_t                 want = begin > 0 ? 1 : 0;

    if (begin == 0 && end == c->dim[axis]) return FIRE_OK;
    FIRE_TRY(fire_onnx_chain_add(x, c, "Slice", &l));
    FIRE_ONNX_SETTINGS(l, "slice_param", &p);
    p->has_axis = true;
    p->axis     = axis;
    if (begin > 0) FIRE_TRY(fire_onnx_append_u32(p, "slice_point", begin));
    if (end < c->dim[axis]) FIRE_TRY(fire_onnx_append_u32(p, "slice_point", end));
    for (size_t i = 0; i < p->n_slice_point; i++)
        FIRE_TRY(fire_onnx_add_top(x, l, -1));
    if (begin > 0) { /* the result is the second part, and has the first one's name */
        first     = l->top[0];
        l->top[0] = l->top[1];
        l->top[1] = first;
    }
    FIRE_TRY(fire_onnx_step(x, "Silence", NULL, &silence));
    fire_message_clear_field(silence, "top");
    for (size_t i = 0; i < l->n_top; i++)
        if (i != want) FIRE_TRY(fire_onnx_add_bottom(silence, l->top[i]));
    c->blob      = l->top[want];
    c->dim[axis] = end - begin;
    return FIRE_OK;
}

fire_status_t fire_onnx_chain_tile(fire_onnx_import_t *x, fire_onnx_chain_t *c,
                                   int axis, int64_t times)
{
    Caffe__TileParameter  *p;
    Caffe__LayerParameter *l;
    int64_t                n;

    if (times == 1) return FIRE_OK;
    if (times < 1 || times > INT32_MAX / c->dim[axis])
        return FIRE_FAIL(FIRE_ERR_PARSE, "%lld times %lld elements", (long long)times,
                         (long long)c->dim[axis]);
    FIRE_TRY(fire_onnx_chain_add(x, c, "Tile", &l));
    FIRE_ONNX_SETTINGS(l, "tile_param", &p);
    p->has_axis = p->has_tiles = true;
    p->axis                    = axis;
    p->tiles                   = (int32_t)times;
    c->dim[axis] *= times;
    return fire_onnx_elements(c->ndim, c->dim, &n);
}

fire_status_t fire_onnx_chain_spread(fire_onnx_import_t *x, fire_onnx_chain_t *c,
                                     int ndim, const int64_t *dim)
{
    int64_t all[FIRE_MAX_DIMS], have[FIRE_MAX_DIMS];
    int     n;

    FIRE_TRY(fire_onnx_common_shape(c->ndim, c->dim, ndim, dim, &n, all));
    for (int i = 0; i < n; i++)
        have[i] = i < n - c->ndim ? 1 : c->dim[i - (n - c->ndim)];
    FIRE_TRY(fire_onnx_chain_reshape(x, c, n, have));
    for (int i = n - 1; i >= 0; i--)
        if (have[i] != all[i]) FIRE_TRY(fire_onnx_chain_tile(x, c, i, all[i]));
    return FIRE_OK;
}

static fire_status_t put_pads(Caffe__LayerParameter *l, int first, int end,
                              const int64_t *before, const int64_t *behind,
                              Caffe__PadParameter__Mode mode, float value)
{
    Caffe__PadParameter *p;

    FIRE_ONNX_SETTINGS(l, "pad_param", &p);
    p->has_axis  = first != 2;
    p->axis      = first;
    p->has_mode  = mode != CAFFE__PAD_PARAMETER__MODE__CONSTANT;
    p->mode      = mode;
    p->has_value = value != 0;
    p->value     = value;
    for (int i = first; i < end; i++) {
        int32_t a = (int32_t)before[i], b = (int32_t)behind[i];

        FIRE_TRY(fire_message_put(p, fire_field_find(p->base.descriptor, "begin"), &a));
        FIRE_TRY(fire_message_put(p, fire_field_find(p->base.descriptor, "end"), &b));
    }
    return FIRE_OK;
}

fire_status_t fire_onnx_chain_pad(fire_onnx_import_t *x, fire_onnx_chain_t *c,
                                  Caffe__PadParameter__Mode mode, float value,
                                  const int64_t *begin, const int64_t *end)
{
    Caffe__LayerParameter *l;
    int64_t                n;
    int                    first = 0, last = c->ndim;

    while (first < last && begin[first] == 0 && end[first] == 0)
        first++;
    while (last > first && begin[last - 1] == 0 && end[last - 1] == 0)
        last--;
    if (first == last) return FIRE_OK;
    for (int i = first; i < last; i++) {
        if (begin[i] <= -c->dim[i] || end[i] <= -c->dim[i] ||
            begin[i] > INT32_MAX / 4 || end[i] > INT32_MAX / 4 ||
            c->dim[i] + begin[i] + end[i] < 1)
            return FIRE_FAIL(FIRE_ERR_PARSE, "pads of %lld and %lld for %lld elements",
                             (long long)begin[i], (long long)end[i],
                             (long long)c->dim[i]);
        c->dim[i] += begin[i] + end[i];
    }
    FIRE_TRY(fire_onnx_elements(c->ndim, c->dim, &n));
    FIRE_TRY(fire_onnx_chain_add(x, c, "Pad", &l));
    return put_pads(l, first, last, begin, end, mode, value);
}

fire_status_t fire_onnx_chain_reduce(fire_onnx_import_t *x, fire_onnx_chain_t *c,
                                     Caffe__ReductionParameter__ReductionOp op,
                                     int axis, float coeff)
{
    Caffe__ReductionParameter *p;
    Caffe__LayerParameter     *l;

    FIRE_TRY(fire_onnx_chain_add(x, c, "Reduction", &l));
    FIRE_ONNX_SETTINGS(l, "reduction_param", &p);
    p->has_operation = p->has_axis = true;
    p->operation                   = op;
    p->axis                        = axis;
    p->has_coeff                   = coeff != 1;
    p->coeff                       = coeff;
    c->ndim                        = axis;
    return FIRE_OK;
}
