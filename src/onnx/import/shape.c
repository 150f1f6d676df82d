/* shape.c - operators that move values without changing them. */
#include <string.h>
#include "onnx/import/chain.h"
#include "onnx/import/known.h"

/* Identity, Cast and Dropout in inference. */
fire_status_t fire_onnx_take_nothing(fire_onnx_import_t *x)
{
    const fire_onnx_operand_t *in;
    Caffe__LayerParameter     *l;

    FIRE_TRY(fire_onnx_blob(x, 0, &in));
    if (fire_onnx_output(x, 0) == NULL || !fire_onnx_output(x, 0)->is_output) {
        fire_onnx_set_same(x, 0, in);
        return FIRE_OK;
    }
    FIRE_TRY(
        fire_onnx_last(x, "Split", in->blob, &l)); /* the output has its own name */
    return fire_onnx_set_like(x, 0, l->top[0], in);
}

/* Has the value a whole number everywhere, as the node that makes it says? */
static bool is_whole(const fire_onnx_import_t *x, const char *name)
{
    static const char *const ops[] = {
        "ArgMax",      "ArgMin", "Greater", "GreaterOrEqual", "Less", "Not",
        "LessOrEqual", "And",    "Or",      "Sign",           "Cast"};

    for (int64_t i = 0; i < x->index; i++) {
        const Onnx__NodeProto *node = x->m->node[i];

        if (strcmp(node->output[0], name) != 0) continue;
        for (size_t k = 0; k < sizeof(ops) / sizeof(ops[0]); k++)
            if (strcmp(node->op_type, ops[k]) == 0 &&
                (k + 1 < sizeof(ops) / sizeof(ops[0]) || is_whole(x, node->input[0])))
                return true;
    }
    return false;
}

/* Blobs are floats; what is not whole cannot become so. */
fire_status_t fire_onnx_take_cast(fire_onnx_import_t *x)
{
    int64_t                    to = fire_onnx_get_int(x, "to", 0);
    Caffe__LayerParameter     *l;
    Caffe__ThresholdParameter *p;
    fire_onnx_chain_t          c;

    if (!fire_onnx_is_integer((int)to) || is_whole(x, x->node->input[0]))
        return fire_onnx_take_nothing(x);
    if (to != FIRE_ONNX(BOOL))
        return FIRE_ONNX_LACKS("blobs are floats, and no layer rounds them");
    FIRE_TRY(fire_onnx_chain_begin(x, 0, &c));
    FIRE_TRY(fire_onnx_chain_add(x, &c, "AbsVal", &l));
    FIRE_TRY(fire_onnx_chain_add(x, &c, "Threshold", &l));
    FIRE_ONNX_SETTINGS(l, "threshold_param", &p);
    return fire_onnx_chain_end(x, 0, &c);
}

/* A real layer, so that a net to be trained has it. */
fire_status_t fire_onnx_take_dropout(fire_onnx_import_t *x)
{
    const Onnx__AttributeProto *a = fire_onnx_attribute(x->node, "ratio");
    const fire_onnx_tensor_t   *t = NULL;
    Caffe__DropoutParameter    *p;
    Caffe__LayerParameter      *l;
    double                      ratio = a != NULL && a->has_f ? (double)a->f : 0.5;

    if (fire_onnx_output(x, 1) != NULL && fire_onnx_output(x, 1)->nreader > 0)
        return FIRE_ONNX_LACKS("Dropout gives no mask");
    if (fire_onnx_input(x, 1) != NULL) FIRE_TRY(fire_onnx_constant(x, 1, &t));
    if (t != NULL && t->count == 1) ratio = fire_onnx_tensor_number(t, 0);
    if (!(ratio >= 0 && ratio < 1))
        return FIRE_FAIL(FIRE_ERR_PARSE, "a ratio of %g", ratio);
    FIRE_TRY(fire_onnx_take_unary(x, "Dropout", &l));
    FIRE_ONNX_SETTINGS(l, "dropout_param", &p);
    p->has_dropout_ratio = true;
    p->dropout_ratio     = (float)ratio;
    return FIRE_OK;
}

/* Empty inputs, as exporters of old versions write them, are left out. */
static bool is_empty(const fire_onnx_import_t *x, int i)
{
    const fire_onnx_operand_t *v = fire_onnx_input(x, i);

    return v != NULL && v->state == FIRE_ONNX_CONST && v->t->count == 0;
}

fire_status_t fire_onnx_take_concat(fire_onnx_import_t *x)
{
    fire_onnx_chain_t       part[FIRE_ONNX_MOST_PARTS], *c = &part[0];
    Caffe__ConcatParameter *p;
    Caffe__LayerParameter  *l;
    int                     axis, n = 0;

    if (x->node->n_input > FIRE_ONNX_MOST_PARTS)
        return FIRE_ONNX_LACKS("%zu inputs", x->node->n_input);
    for (int i = 0; i < (int)x->node->n_input; i++)
        if (!is_empty(x, i)) FIRE_TRY(fire_onnx_chain_begin(x, i, &part[n++]));
    if (n == 0) return FIRE_FAIL(FIRE_ERR_PARSE, "it has no input");
    FIRE_TRY(fire_onnx_axis(fire_onnx_get_int(x, "axis", 1), c->ndim, &axis));
    if (n == 1) return fire_onnx_chain_end(x, 0, c);
    FIRE_TRY(fire_onnx_chain_add(x, c, "Concat", &l));
    for (int i = 1; i < n; i++) {
        for (int k = 0; k < c->ndim; k++)
            if (part[i].ndim != c->ndim || (k != axis && part[i].dim[k] != c->dim[k]))
                return FIRE_FAIL(FIRE_ERR_PARSE, "inputs 0 and %d do not fit together",
                                 i);
        FIRE_TRY(fire_onnx_add_bottom(l, part[i].blob));
        c->dim[axis] += part[i].dim[axis];
    }
    if (axis != 1) {
        FIRE_ONNX_SETTINGS(l, "concat_param", &p);
        p->has_axis = true;
        p->axis     = axis;
    }
    return fire_onnx_chain_end(x, 0, c);
}

/* ---- other shapes ---- */

static fire_status_t reshape(fire_onnx_import_t *x, const fire_onnx_operand_t *in,
                             int ndim, const int64_t *dim)
{
    const char *blob = in->blob;

    if (ndim == in->ndim && memcmp(dim, in->dim, (size_t)ndim * sizeof(*dim)) == 0)
        return fire_onnx_take_nothing(x);
    FIRE_TRY(fire_onnx_reshape_blob(x, true, &blob, in->ndim, in->dim, ndim, dim));
    return fire_onnx_set_blob(x, 0, blob, ndim, dim);
}

fire_status_t fire_onnx_take_reshape(fire_onnx_import_t *x)
{
    const fire_onnx_operand_t *in;
    int64_t                    dim[FIRE_MAX_DIMS], count = 1, rest = 1;
    int                        n, hole = -1;

    FIRE_TRY(fire_onnx_blob(x, 0, &in));
    FIRE_TRY(fire_onnx_get_ints(x, "shape", 1, &n, dim));
    for (int i = 0; i < in->ndim; i++)
        count *= in->dim[i];
    for (int i = 0; i < n; i++) {
        if (dim[i] == 0 && i < in->ndim && fire_onnx_get_int(x, "allowzero", 0) == 0)
            dim[i] = in->dim[i];
        if (dim[i] == -1) hole = i;
        if (dim[i] != -1 && (dim[i] < 1 || dim[i] > count))
            return FIRE_FAIL(FIRE_ERR_PARSE,
                             "dimension %d becomes %lld of %lld elements", i,
                             (long long)dim[i], (long long)count);
        if (dim[i] > 0 && rest > count / dim[i])
            return FIRE_FAIL(FIRE_ERR_PARSE, "a shape of more than %lld elements",
                             (long long)count);
        if (dim[i] > 0) rest *= dim[i];
    }
    if (hole >= 0) dim[hole] = count / rest;
    return reshape(x, in, n, dim);
}

fire_status_t fire_onnx_take_flatten(fire_onnx_import_t *x)
{
    const fire_onnx_operand_t *in;
    int64_t                    dim[2] = {1, 1}, axis = fire_onnx_get_int(x, "axis", 1);

    FIRE_TRY(fire_onnx_blob(x, 0, &in));
    if (axis < 0) axis += in->ndim;
    for (int i = 0; i < in->ndim; i++)
        dim[i < axis ? 0 : 1] *= in->dim[i];
    return reshape(x, in, 2, dim);
}

fire_status_t fire_onnx_take_squeeze(fire_onnx_import_t *x)
{
    const fire_onnx_operand_t *in;
    int64_t                    axes[FIRE_MAX_DIMS], dim[FIRE_MAX_DIMS];
    uint64_t                   drop = 0;
    int                        n, axis, ndim = 0;

    FIRE_TRY(fire_onnx_blob(x, 0, &in));
    FIRE_TRY(fire_onnx_get_ints(x, "axes", 1, &n, axes));
    for (int i = 0; i < n; i++) {
        FIRE_TRY(fire_onnx_axis(axes[i], in->ndim, &axis));
        drop |= UINT64_C(1) << axis;
    }
    for (int i = 0; i < in->ndim; i++) {
        bool goes = n == 0 ? in->dim[i] == 1 : (drop >> i & 1) != 0;

        if (goes && in->dim[i] != 1)
            return FIRE_FAIL(FIRE_ERR_PARSE, "axis %d is %lld, not 1", i,
                             (long long)in->dim[i]);
        if (!goes) dim[ndim++] = in->dim[i];
    }
    return reshape(x, in, ndim, dim);
}

fire_status_t fire_onnx_take_unsqueeze(fire_onnx_import_t *x)
{
    const fire_onnx_operand_t *in;
    int64_t                    axes[FIRE_MAX_DIMS], dim[FIRE_MAX_DIMS];
    uint64_t                   add = 0;
    int                        n, axis, ndim, from = 0;

    FIRE_TRY(fire_onnx_blob(x, 0, &in));
    FIRE_TRY(fire_onnx_get_ints(x, "axes", 1, &n, axes));
    ndim = in->ndim + n;
    if (ndim > FIRE_MAX_DIMS) return FIRE_FAIL(FIRE_ERR_PARSE, "%d axes", ndim);
    for (int i = 0; i < n; i++) {
        FIRE_TRY(fire_onnx_axis(axes[i], ndim, &axis));
        if (add >> axis & 1) return FIRE_FAIL(FIRE_ERR_PARSE, "axis %d twice", axis);
        add |= UINT64_C(1) << axis;
    }
    for (int i = 0; i < ndim; i++)
        dim[i] = add >> i & 1 ? 1 : in->dim[from++];
    return reshape(x, in, ndim, dim);
}
