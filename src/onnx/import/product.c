/* product.c - Gemm and MatMul: InnerProduct where one factor is a matrix of constants, else
 * the layer MatMul. */
#include <string.h>
#include "base/alloc.h"
#include "onnx/import/chain.h"
#include "onnx/import/known.h"

/* ---- by a matrix of constants ---- */

static fire_status_t put_settings(Caffe__LayerParameter *l, int64_t outputs, bool bias,
                                  int axis, bool transpose)
{
    Caffe__InnerProductParameter *p;
    Caffe__FillerParameter       *filler;

    FIRE_ONNX_SETTINGS(l, "inner_product_param", &p);
    FIRE_TRY(fire_onnx_append_u32(p, "num_output", outputs));
    p->has_bias_term = !bias;
    p->bias_term     = bias;
    p->has_axis      = axis != 1;
    p->axis          = axis;
    p->has_transpose = p->transpose = transpose;
    FIRE_TRY(fire_message_add_message(p, "weight_filler", &filler));
    return fire_message_add_string(filler, "type", "xavier");
}

/* A tensor times a number. */
static fire_status_t give(fire_onnx_import_t *x, const fire_onnx_tensor_t *t, float by,
                          int ndim, const int64_t *dim)
{
    float *values;

    if (by == 1) return fire_onnx_give_tensor(x, t, ndim, dim);
    if (fire_onnx_type_size(t->type) == 0)
        return FIRE_ONNX_LACKS("a constant that is no numbers");
    FIRE_TRY(FIRE_NEW(&values, t->count));
    fire_onnx_tensor_floats(t, values);
    for (int64_t i = 0; i < t->count; i++)
        values[i] *= by;
    return fire_onnx_give_floats(x, values, ndim, dim);
}

/* weight: (outputs, inputs), or (inputs, outputs) with `transpose`. The last axis of the
 * chain is multiplied. */
static fire_status_t by_matrix(fire_onnx_import_t *x, fire_onnx_chain_t *c,
                               const fire_onnx_tensor_t *weight, const int64_t *size,
                               bool transpose, float alpha,
                               const fire_onnx_tensor_t *bias, float beta)
{
    Caffe__LayerParameter *l;
    int64_t                outputs = size[transpose ? 1 : 0];
    int                    ndim    = c->ndim;

    if (ndim == 1)
        FIRE_TRY(fire_onnx_chain_reshape(x, c, 2, (int64_t[]){1, c->dim[0]}));
    if (size[transpose ? 0 : 1] != c->dim[c->ndim - 1])
        return FIRE_FAIL(FIRE_ERR_PARSE, "a matrix of %lld x %lld for %lld numbers",
                         (long long)size[0], (long long)size[1],
                         (long long)c->dim[c->ndim - 1]);
    FIRE_TRY(fire_onnx_chain_add(x, c, "InnerProduct", &l));
    FIRE_TRY(put_settings(l, outputs, bias != NULL, c->ndim - 1, transpose));
    FIRE_TRY(give(x, weight, alpha, 2, size));
    if (bias != NULL) FIRE_TRY(give(x, bias, beta, 1, &outputs));
    c->dim[c->ndim - 1] = outputs;
    return ndim == 1 ? fire_onnx_chain_reshape(x, c, 1, &outputs) : FIRE_OK;
}

/* ---- of two blobs ---- */

static fire_status_t by_blob(fire_onnx_import_t *x, fire_onnx_chain_t *a,
                             fire_onnx_chain_t *b, bool turn_a, bool turn_b)
{
    int64_t                 dim[FIRE_MAX_DIMS], shape[FIRE_MAX_DIMS];
    Caffe__MatMulParameter *p;
    Caffe__LayerParameter  *l;
    int                     n;

    if (a->ndim < 2 || b->ndim < 2)
        return FIRE_ONNX_LACKS("a product of %d and %d axes", a->ndim, b->ndim);
    FIRE_TRY(fire_onnx_common_shape(a->ndim - 2, a->dim, b->ndim - 2, b->dim, &n, dim));
    for (int k = 0; k < 2; k++) { /* the same matrices in front of both */
        fire_onnx_chain_t *c = k == 0 ? a : b;

        memcpy(shape, dim, sizeof(shape));
        shape[n]     = c->dim[c->ndim - 2];
        shape[n + 1] = c->dim[c->ndim - 1];
        FIRE_TRY(fire_onnx_chain_spread(x, c, n + 2, shape));
    }
    if (a->dim[turn_a ? n : n + 1] != b->dim[turn_b ? n + 1 : n])
        return FIRE_FAIL(FIRE_ERR_PARSE, "matrices that do not fit together");
    FIRE_TRY(fire_onnx_chain_add(x, a, "MatMul", &l));
    FIRE_TRY(fire_onnx_add_bottom(l, b->blob));
    if (turn_a || turn_b) {
        FIRE_ONNX_SETTINGS(l, "mat_mul_param", &p);
        p->has_transpose_a = p->transpose_a = turn_a;
        p->has_transpose_b = p->transpose_b = turn_b;
    }
    if (turn_a) a->dim[n] = a->dim[n + 1];
    a->dim[n + 1] = b->dim[turn_b ? n : n + 1];
    return FIRE_OK;
}

/* ---- the operators ---- */

/* Has the operand one matrix only? size: its two axes. */
static bool is_matrix(const fire_onnx_operand_t *v, int64_t size[2])
{
    if (v->state != FIRE_ONNX_CONST || v->ndim < 2 ||
        fire_onnx_type_size(v->t->type) == 0)
        return false;
    memcpy(size, v->dim + v->ndim - 2, 2 * sizeof(*size));
    for (int i = 0; i < v->ndim - 2; i++)
        if (v->dim[i] != 1) return false;
    return true;
}

/* beta times input 2, which fits to the product. */
static fire_status_t add_bias(fire_onnx_import_t *x, fire_onnx_chain_t *c, float beta)
{
    fire_onnx_chain_t d;

    if (fire_onnx_input(x, 2) == NULL || beta == 0) return FIRE_OK;
    FIRE_TRY(fire_onnx_chain_begin(x, 2, &d));
    FIRE_TRY(fire_onnx_chain_spread(x, &d, c->ndim, c->dim));
    return fire_onnx_chain_eltwise(x, c, &d, CAFFE__ELTWISE_PARAMETER__ELTWISE_OP__SUM,
                                   beta);
}

fire_status_t fire_onnx_take_gemm(fire_onnx_import_t *x)
{
    const fire_onnx_operand_t *w = fire_onnx_input(x, 1), *v = fire_onnx_input(x, 2);
    float                      alpha  = fire_onnx_get_float(x, "alpha", 1);
    float                      beta   = fire_onnx_get_float(x, "beta", 1);
    bool                       turn_a = fire_onnx_get_int(x, "transA", 0) != 0;
    bool                       turn_b = fire_onnx_get_int(x, "transB", 0) != 0, simple;
    fire_onnx_chain_t          c, d;
    int64_t                    size[2];

    FIRE_TRY(fire_onnx_chain_begin(x, 0, &c));
    if (c.ndim != 2 || w == NULL) return FIRE_FAIL(FIRE_ERR_PARSE, "no two matrices");
    if (is_matrix(w, size)) {
        if (turn_a) FIRE_TRY(fire_onnx_chain_permute(x, &c, (int[]){1, 0}));
        simple = v != NULL && v->state == FIRE_ONNX_CONST &&
                 v->t->count == size[turn_b ? 0 : 1] &&
                 v->dim[v->ndim - 1] == v->t->count;
        FIRE_TRY(
            by_matrix(x, &c, w->t, size, !turn_b, alpha, simple ? v->t : NULL, beta));
        if (!simple) FIRE_TRY(add_bias(x, &c, beta));
        return fire_onnx_chain_end(x, 0, &c);
    }
    FIRE_TRY(fire_onnx_chain_begin(x, 1, &d));
    FIRE_TRY(by_blob(x, &c, &d, turn_a, turn_b));
    if (alpha != 1) FIRE_TRY(fire_onnx_chain_power(x, &c, 1, alpha, 0));
    FIRE_TRY(add_bias(x, &c, beta));
    return fire_onnx_chain_end(x, 0, &c);
}

fire_status_t fire_onnx_take_matmul(fire_onnx_import_t *x)
{
    const fire_onnx_operand_t *w = fire_onnx_input(x, 1);
    fire_onnx_chain_t          c, d;
    int64_t                    size[2];

    FIRE_TRY(fire_onnx_chain_begin(x, 0, &c));
    if (w == NULL) return FIRE_FAIL(FIRE_ERR_PARSE, "it needs two inputs");
    if (is_matrix(w, size) && c.ndim >= w->ndim - 1) {
        FIRE_TRY(by_matrix(x, &c, w->t, size, true, 1, NULL, 1));
    } else {
        FIRE_TRY(fire_onnx_chain_begin(x, 1, &d));
        FIRE_TRY(by_blob(x, &c, &d, false, false));
    }
    return fire_onnx_chain_end(x, 0, &c);
}
