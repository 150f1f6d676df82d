/* arithmetic.c - Add, Sub, Mul, Div, Max, Min, Sum, Mean. What is repeated along axes
 * becomes Scale and Bias, numbers become Power, values of one shape Eltwise; where none of
 * them fits, copies are made first. */
#include <math.h>
#include <string.h>
#include "base/alloc.h"
#include "onnx/import/chain.h"
#include "onnx/import/known.h"

#define ELTWISE(op) CAFFE__ELTWISE_PARAMETER__ELTWISE_OP__##op

typedef enum kind { ADD, SUB, MUL, DIV } kind_t;

/* ---- two blobs ---- */

/* The shape of b among the axes of a as ONNX lines them up, from the last: which axes
 * [first, end) of a it has; others must be 1. */
static bool lines_up(const fire_onnx_chain_t *a, int ndim, const int64_t *dim,
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

static bool same_shape(const fire_onnx_chain_t *a, const fire_onnx_chain_t *b)
{
    return a->ndim == b->ndim &&
           memcmp(a->dim, b->dim, (size_t)a->ndim * sizeof(a->dim[0])) == 0;
}

/* What is subtracted is added the other way round, what divides is turned. */
static fire_status_t turn(fire_onnx_import_t *x, fire_onnx_chain_t *b, kind_t kind)
{
    if (kind == SUB) return fire_onnx_chain_power(x, b, 1, -1, 0);
    return kind == DIV ? fire_onnx_chain_power(x, b, -1, 1, 0) : FIRE_OK;
}

/* a by the smaller b: Scale or Bias with two bottoms. */
static fire_status_t broadcast(fire_onnx_import_t *x, fire_onnx_chain_t *a,
                               fire_onnx_chain_t *b, bool adds, int first, int end)
{
    if (first > 0 && a->dim[0] == 1 && b->ndim == a->ndim) first = 0; /* a batch of 1 */
    FIRE_TRY(fire_onnx_chain_reshape(x, b, end - first, a->dim + first));
    return fire_onnx_chain_affine(x, a, adds ? "Bias" : "Scale", b, first);
}

static fire_status_t two_blobs(fire_onnx_import_t *x, fire_onnx_chain_t *a,
                               fire_onnx_chain_t *b, kind_t kind)
{
    bool    adds = kind == ADD || kind == SUB;
    int64_t dim[FIRE_MAX_DIMS];
    int     first, end, ndim;

    if (!same_shape(a, b) || kind == DIV) FIRE_TRY(turn(x, b, kind));
    if (same_shape(a, b))
        return fire_onnx_chain_eltwise(x, a, b, adds ? ELTWISE(SUM) : ELTWISE(PROD),
                                       kind == SUB ? -1.0f : 1.0f);
    if (lines_up(a, b->ndim, b->dim, &first, &end))
        return broadcast(x, a, b, adds, first, end);
    if (lines_up(b, a->ndim, a->dim, &first, &end)) {
        FIRE_TRY(broadcast(x, b, a, adds, first, end));
        *a = *b;
        return FIRE_OK;
    }
    FIRE_TRY(fire_onnx_common_shape(a->ndim, a->dim, b->ndim, b->dim, &ndim, dim));
    FIRE_TRY(fire_onnx_chain_spread(x, a, ndim, dim));
    FIRE_TRY(fire_onnx_chain_spread(x, b, ndim, dim));
    return fire_onnx_chain_eltwise(x, a, b, adds ? ELTWISE(SUM) : ELTWISE(PROD), 1);
}

/* ---- a blob and a constant ---- */

/* blob + number, number - blob, ... */
static fire_status_t by_number(fire_onnx_import_t *x, fire_onnx_chain_t *a, float v,
                               bool swapped, kind_t kind)
{
    bool  adds  = kind == ADD || kind == SUB;
    float scale = kind == MUL ? v : kind == DIV && !swapped ? 1 / v : 1;
    float shift = adds ? v : 0;

    if (kind == SUB) *(swapped ? &scale : &shift) *= -1;
    if (scale == 1 && shift == 0 && (kind != DIV || !swapped)) return FIRE_OK;
    if (kind != DIV || !swapped) return fire_onnx_chain_power(x, a, 1, scale, shift);
    FIRE_TRY(fire_onnx_chain_power(x, a, -1, 1, 0)); /* v / a */
    return v == 1 ? FIRE_OK : fire_onnx_chain_power(x, a, 1, v, 0);
}

/* t, -t or 1 / t, whichever is added or multiplied, repeated to a shape. */
static fire_status_t turned(const fire_onnx_tensor_t *t, kind_t kind, int ndim,
                            const int64_t *dim, float **values_p)
{
    int64_t n;

    FIRE_TRY(fire_onnx_elements(ndim, dim, &n));
    FIRE_TRY(FIRE_NEW(values_p, n));
    for (int64_t i = 0; i < n; i++) {
        int64_t k = t->count == n ? i : fire_onnx_repeated(t, ndim, dim, i);
        double  v = fire_onnx_tensor_number(t, k);

        (*values_p)[i] = (float)(kind == SUB ? -v : kind == DIV ? 1 / v : v);
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

/* A parameter along some axes. One that fits only when it is repeated is not learned: its
 * copies would part. */
static fire_status_t by_tensor(fire_onnx_import_t *x, fire_onnx_chain_t *a,
                               const fire_onnx_tensor_t *t, kind_t kind)
{
    bool                   bias = kind == ADD || kind == SUB, fits;
    Caffe__LayerParameter *l;
    int64_t                dim[FIRE_MAX_DIMS];
    float                 *values;
    int                    first, end, ndim;

    FIRE_TRY(fire_onnx_common_shape(a->ndim, a->dim, t->ndim, t->dim, &ndim, dim));
    FIRE_TRY(fire_onnx_chain_spread(x, a, ndim, dim));
    fits = lines_up(a, t->ndim, t->dim, &first, &end);
    if (!fits) {
        first = ndim == t->ndim && t->dim[0] != 1 ? 0 : 1;
        end   = ndim;
    }
    FIRE_TRY(fire_onnx_chain_add(x, a, bias ? "Bias" : "Scale", &l));
    if (!fits) FIRE_TRY(fire_onnx_freeze(l, 1));
    FIRE_TRY(set_axes(l, bias, first, end - first));
    if (fits && (kind == ADD || kind == MUL))
        return fire_onnx_give_tensor(x, t, end - first, a->dim + first);
    /* What is left of t's axes in front of `first` are ones. */
    FIRE_TRY(turned(t, kind, end - first, a->dim + first, &values));
    return fire_onnx_give_floats(x, values, end - first, a->dim + first);
}

/* Of a constant and a blob; swapped: the constant comes first. */
static fire_status_t by_constant(fire_onnx_import_t *x, fire_onnx_chain_t *a,
                                 const fire_onnx_tensor_t *t, bool swapped, kind_t kind)
{
    if (fire_onnx_type_size(t->type) == 0 || t->count == 0)
        return FIRE_ONNX_LACKS("a constant that is no numbers");
    if (t->count == 1 && t->ndim <= a->ndim)
        return by_number(x, a, (float)fire_onnx_tensor_number(t, 0), swapped, kind);
    if (swapped) {
        FIRE_TRY(turn(x, a, kind));
        kind = kind == SUB ? ADD : kind == DIV ? MUL : kind;
    }
    return by_tensor(x, a, t, kind);
}

static fire_status_t take(fire_onnx_import_t *x, kind_t kind)
{
    const fire_onnx_operand_t *a = fire_onnx_input(x, 0), *b = fire_onnx_input(x, 1);
    fire_onnx_chain_t          c, d;

    if (a == NULL || b == NULL) return FIRE_FAIL(FIRE_ERR_PARSE, "it needs two inputs");
    if (a->state == FIRE_ONNX_BLOB && b->state == FIRE_ONNX_BLOB) {
        FIRE_TRY(fire_onnx_chain_begin(x, 0, &c));
        FIRE_TRY(fire_onnx_chain_begin(x, 1, &d));
        FIRE_TRY(two_blobs(x, &c, &d, kind));
    } else {
        bool swapped = a->state == FIRE_ONNX_CONST;

        FIRE_TRY(fire_onnx_chain_begin(x, swapped ? 1 : 0, &c));
        FIRE_TRY(by_constant(x, &c, swapped ? a->t : b->t, swapped, kind));
    }
    return fire_onnx_chain_end(x, 0, &c);
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

/* ---- any number of inputs ---- */

/* Max, Sum, Mean: one Eltwise where all inputs are blobs of one shape. */
static fire_status_t together(fire_onnx_import_t                *x,
                              Caffe__EltwiseParameter__EltwiseOp op, bool negative,
                              fire_onnx_chain_t *c)
{
    fire_onnx_chain_t d[FIRE_ONNX_MOST_PARTS];
    int64_t           dim[FIRE_MAX_DIMS];
    int               n = (int)x->node->n_input, ndim = 0;

    if (n < 1 || n > FIRE_ONNX_MOST_PARTS) return FIRE_ONNX_LACKS("%d inputs", n);
    d[0] = (fire_onnx_chain_t){0};
    for (int i = 0; i < n; i++) {
        FIRE_TRY(fire_onnx_chain_begin(x, i, &d[i]));
        FIRE_TRY(fire_onnx_common_shape(ndim, dim, d[i].ndim, d[i].dim, &ndim, dim));
    }
    for (int i = 0; i < n; i++) {
        FIRE_TRY(fire_onnx_chain_spread(x, &d[i], ndim, dim));
        if (negative) FIRE_TRY(fire_onnx_chain_power(x, &d[i], 1, -1, 0));
    }
    *c = d[0];
    if (n > 1) FIRE_TRY(fire_onnx_chain_eltwise(x, c, &d[1], op, 1));
    for (int i = 2; i < n; i++)
        FIRE_TRY(fire_onnx_add_bottom(x->net->layer[x->net->n_layer - 1], d[i].blob));
    return FIRE_OK;
}

/* With one number: a limit. */
static fire_status_t limit(fire_onnx_import_t *x, bool low, fire_onnx_chain_t *c,
                           bool *matched_p)
{
    const fire_onnx_operand_t *a = fire_onnx_input(x, 0), *b = fire_onnx_input(x, 1);
    bool                       swapped;

    *matched_p = false;
    if (x->node->n_input != 2 || a == NULL || b == NULL) return FIRE_OK;
    swapped = a->state == FIRE_ONNX_CONST;
    if (swapped) b = a;
    if (b->state != FIRE_ONNX_CONST || b->t->count != 1 ||
        fire_onnx_type_size(b->t->type) == 0)
        return FIRE_OK;
    *matched_p = true;
    FIRE_TRY(fire_onnx_chain_begin(x, swapped ? 1 : 0, c));
    return fire_onnx_chain_clip(x, c,
                                low ? fire_onnx_tensor_number(b->t, 0) : -INFINITY,
                                low ? INFINITY : fire_onnx_tensor_number(b->t, 0));
}

fire_status_t fire_onnx_take_max(fire_onnx_import_t *x)
{
    fire_onnx_chain_t c;
    bool              matched;

    FIRE_TRY(limit(x, true, &c, &matched));
    if (!matched) FIRE_TRY(together(x, ELTWISE(MAX), false, &c));
    return fire_onnx_chain_end(x, 0, &c);
}

/* - max(-a, -b) */
fire_status_t fire_onnx_take_min(fire_onnx_import_t *x)
{
    fire_onnx_chain_t c;
    bool              matched;

    FIRE_TRY(limit(x, false, &c, &matched));
    if (!matched) {
        FIRE_TRY(together(x, ELTWISE(MAX), true, &c));
        FIRE_TRY(fire_onnx_chain_power(x, &c, 1, -1, 0));
    }
    return fire_onnx_chain_end(x, 0, &c);
}

fire_status_t fire_onnx_take_sum(fire_onnx_import_t *x)
{
    fire_onnx_chain_t c;

    FIRE_TRY(together(x, ELTWISE(SUM), false, &c));
    return fire_onnx_chain_end(x, 0, &c);
}

fire_status_t fire_onnx_take_mean(fire_onnx_import_t *x)
{
    fire_onnx_chain_t c;

    FIRE_TRY(together(x, ELTWISE(SUM), false, &c));
    FIRE_TRY(fire_onnx_chain_power(x, &c, 1, 1 / (float)x->node->n_input, 0));
    return fire_onnx_chain_end(x, 0, &c);
}
