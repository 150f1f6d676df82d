/* arithmetic.c - Add, Sub, Mul, Div, Max of two values. What is broadcast becomes Scale
 * and Bias, numbers become Power, values of one shape Eltwise. */
#include <string.h>
#include "base/alloc.h"
#include "onnx/import/take.h"

typedef enum kind { ADD, SUB, MUL, DIV } kind_t;

/* ---- two blobs ---- */

static fire_status_t eltwise(fire_onnx_import_t *x, int n,
                             Caffe__EltwiseParameter__EltwiseOp op, float second)
{
    const fire_onnx_operand_t *first, *v;
    Caffe__EltwiseParameter   *p;
    Caffe__LayerParameter     *l;
    float                      one = 1;

    FIRE_TRY(fire_onnx_blob(x, 0, &first));
    for (int i = 1; i < n; i++) {
        FIRE_TRY(fire_onnx_blob(x, i, &v));
        if (v->ndim != first->ndim ||
            memcmp(v->dim, first->dim, (size_t)v->ndim * sizeof(v->dim[0])) != 0)
            return FIRE_ONNX_LACKS("its inputs have different shapes");
    }
    FIRE_TRY(fire_onnx_last(x, "Eltwise", first->blob, &l));
    for (int i = 1; i < n; i++) {
        FIRE_TRY(fire_onnx_blob(x, i, &v));
        FIRE_TRY(fire_onnx_add_bottom(l, v->blob));
    }
    FIRE_ONNX_SETTINGS(l, "eltwise_param", &p);
    p->has_operation = true;
    p->operation     = op;
    if (second != 1) {
        FIRE_TRY(
            fire_message_put(p, fire_field_find(p->base.descriptor, "coeff"), &one));
        FIRE_TRY(
            fire_message_put(p, fire_field_find(p->base.descriptor, "coeff"), &second));
    }
    return fire_onnx_set_like(x, 0, l->top[0], first);
}

/* The shape of b among the axes of a as ONNX lines them up, from the last: which axes
 * [first, end) of a it has; others must be 1. */
static bool lines_up(const fire_onnx_operand_t *a, int ndim, const int64_t *dim,
                     int *first, int *end)
{
    int skip = a->ndim - ndim;

    *first = *end = 0;
    if (skip < 0) return false;
    *first = a->ndim;
    for (int i = 0; i < ndim; i++) {
        if (dim[i] != 1 && dim[i] != a->dim[skip + i]) return false;
        if (dim[i] == 1) continue;
        if (*first == a->ndim) *first = skip + i;
        *end = skip + i + 1;
    }
    for (int i = *first; i < *end; i++) /* no ones in between */
        if (i < skip || dim[i - skip] != a->dim[i]) return false;
    if (*end == 0) *first = 0;
    return true;
}

/* a by the smaller b: Scale or Bias with two bottoms. */
static fire_status_t broadcast(fire_onnx_import_t *x, const fire_onnx_operand_t *a,
                               const fire_onnx_operand_t *b, kind_t kind)
{
    Caffe__LayerParameter *l;
    const char            *blob = b->blob;
    int                    first, end;

    if (!lines_up(a, b->ndim, b->dim, &first, &end))
        return FIRE_ONNX_LACKS(
            "its inputs can be neither of one shape nor one repeated "
            "along the other");
    if (first > 0 && a->dim[0] == 1 && b->ndim == a->ndim) first = 0; /* a batch of 1 */
    if (kind == SUB) FIRE_TRY(fire_onnx_power(x, false, &blob, 1, -1, 0));
    if (kind == DIV) FIRE_TRY(fire_onnx_power(x, false, &blob, -1, 1, 0));
    FIRE_TRY(fire_onnx_reshape_blob(x, false, &blob, b->ndim, b->dim, end - first,
                                    a->dim + first));
    FIRE_TRY(
        fire_onnx_last(x, kind == ADD || kind == SUB ? "Bias" : "Scale", a->blob, &l));
    FIRE_TRY(fire_onnx_add_bottom(l, blob));
    if (kind == ADD || kind == SUB) {
        Caffe__BiasParameter *p;

        FIRE_ONNX_SETTINGS(l, "bias_param", &p);
        p->has_axis = true;
        p->axis     = first;
    } else {
        Caffe__ScaleParameter *p;

        FIRE_ONNX_SETTINGS(l, "scale_param", &p);
        p->has_axis = true;
        p->axis     = first;
    }
    return fire_onnx_set_like(x, 0, l->top[0], a);
}

static bool same_shape(const fire_onnx_operand_t *a, const fire_onnx_operand_t *b)
{
    return a->ndim == b->ndim &&
           memcmp(a->dim, b->dim, (size_t)a->ndim * sizeof(a->dim[0])) == 0;
}

static int64_t count_of(const fire_onnx_operand_t *v)
{
    int64_t n = 1;

    for (int i = 0; i < v->ndim; i++)
        n *= v->dim[i];
    return n;
}

static fire_status_t two_blobs(fire_onnx_import_t *x, const fire_onnx_operand_t *a,
                               const fire_onnx_operand_t *b, kind_t kind)
{
    if (same_shape(a, b) && kind != DIV)
        return eltwise(x, 2,
                       kind == MUL ? CAFFE__ELTWISE_PARAMETER__ELTWISE_OP__PROD
                                   : CAFFE__ELTWISE_PARAMETER__ELTWISE_OP__SUM,
                       kind == SUB ? -1.0f : 1.0f);
    if (count_of(a) >= count_of(b)) return broadcast(x, a, b, kind);
    if (kind == ADD || kind == MUL) return broadcast(x, b, a, kind);
    return FIRE_ONNX_LACKS("the first input is repeated along the second");
}

/* ---- a blob and a constant ---- */

/* blob + number, number - blob, ... */
static fire_status_t by_number(fire_onnx_import_t *x, const fire_onnx_operand_t *a,
                               float v, bool swapped, kind_t kind)
{
    const char *blob  = a->blob;
    bool        adds  = kind == ADD || kind == SUB;
    float       scale = kind == MUL ? v : kind == DIV && !swapped ? 1 / v : 1;
    float       shift = adds ? v : 0;

    if (kind == SUB) *(swapped ? &scale : &shift) *= -1;
    if (kind == DIV && swapped) { /* v / a */
        FIRE_TRY(fire_onnx_power(x, v == 1, &blob, -1, 1, 0));
        if (v != 1) FIRE_TRY(fire_onnx_power(x, true, &blob, 1, v, 0));
    } else {
        FIRE_TRY(fire_onnx_power(x, true, &blob, 1, scale, shift));
    }
    return fire_onnx_set_like(x, 0, blob, a);
}

/* -t or 1 / t where the operation needs it, else NULL. */
static fire_status_t turned(const fire_onnx_tensor_t *t, kind_t kind, float **values_p)
{
    *values_p = NULL;
    if (kind == ADD || kind == MUL) return FIRE_OK;
    FIRE_TRY(FIRE_NEW(values_p, t->count));
    for (int64_t i = 0; i < t->count; i++) {
        double v = fire_onnx_tensor_number(t, i);

        (*values_p)[i] = (float)(kind == SUB ? -v : 1 / v);
    }
    return FIRE_OK;
}

static fire_status_t set_axes(Caffe__LayerParameter *l, bool bias, int first, int n)
{
    if (bias) {
        Caffe__BiasParameter *p;

        FIRE_ONNX_SETTINGS(l, "bias_param", &p);
        p->has_axis = p->has_num_axes = true;
        p->axis                       = first;
        p->num_axes                   = n;
    } else {
        Caffe__ScaleParameter *p;

        FIRE_ONNX_SETTINGS(l, "scale_param", &p);
        p->has_axis = p->has_num_axes = true;
        p->axis                       = first;
        p->num_axes                   = n;
    }
    return FIRE_OK;
}

/* A parameter along some axes. The batch axis cannot be one of them. */
static fire_status_t by_tensor(fire_onnx_import_t *x, const fire_onnx_operand_t *a,
                               const fire_onnx_tensor_t *t, kind_t kind)
{
    bool                   bias = kind == ADD || kind == SUB;
    Caffe__LayerParameter *l;
    float                 *values;
    int                    first, end;

    if (!lines_up(a, t->ndim, t->dim, &first, &end) ||
        fire_onnx_type_size(t->type) == 0)
        return FIRE_ONNX_LACKS("the constant cannot be repeated along the input");
    FIRE_TRY(fire_onnx_last(x, bias ? "Bias" : "Scale", a->blob, &l));
    FIRE_TRY(set_axes(l, bias, first, end - first));
    FIRE_TRY(turned(t, kind, &values));
    if (values != NULL)
        FIRE_TRY(fire_onnx_give_floats(x, values, end - first, a->dim + first));
    else
        FIRE_TRY(fire_onnx_give_tensor(x, t, end - first, a->dim + first));
    return fire_onnx_set_like(x, 0, l->top[0], a);
}

static fire_status_t take(fire_onnx_import_t *x, kind_t kind)
{
    const fire_onnx_operand_t *a = fire_onnx_input(x, 0), *b = fire_onnx_input(x, 1);
    bool                       swapped;

    if (a == NULL || b == NULL) return FIRE_FAIL(FIRE_ERR_PARSE, "it needs two inputs");
    if (a->state == FIRE_ONNX_BLOB && b->state == FIRE_ONNX_BLOB)
        return two_blobs(x, a, b, kind);
    swapped = a->state == FIRE_ONNX_CONST;
    if (swapped) {
        const fire_onnx_operand_t *blob = b;

        b = a;
        a = blob;
    }
    if (b->t->count == 1 && fire_onnx_type_size(b->t->type) > 0)
        return by_number(x, a, (float)fire_onnx_tensor_number(b->t, 0), swapped, kind);
    if (swapped && (kind == SUB || kind == DIV))
        return FIRE_ONNX_LACKS("a constant minus, or over, a blob");
    return by_tensor(x, a, b->t, kind);
}

fire_status_t fire_onnx_take_add(fire_onnx_import_t *x)
{
    return take(x, ADD);
}

fire_status_t fire_onnx_take_sub(fire_onnx_import_t *x)
{
    return take(x, SUB);
}

fire_status_t fire_onnx_take_mul(fire_onnx_import_t *x)
{
    bool matched;

    FIRE_TRY(fire_onnx_match_gelu(x, &matched));
    return matched ? FIRE_OK : take(x, MUL);
}

fire_status_t fire_onnx_take_div(fire_onnx_import_t *x)
{
    bool matched;

    FIRE_TRY(fire_onnx_match_gelu(x, &matched));
    return matched ? FIRE_OK : take(x, DIV);
}

fire_status_t fire_onnx_take_max(fire_onnx_import_t *x)
{
    return eltwise(x, (int)x->node->n_input, CAFFE__ELTWISE_PARAMETER__ELTWISE_OP__MAX,
                   1);
}

fire_status_t fire_onnx_take_sum(fire_onnx_import_t *x)
{
    return eltwise(x, (int)x->node->n_input, CAFFE__ELTWISE_PARAMETER__ELTWISE_OP__SUM,
                   1);
}
