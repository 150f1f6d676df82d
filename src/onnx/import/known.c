/* known.c - nodes whose result is known when the model is read: constants, shapes, and
 * what is computed from them. Exporters compute sizes so, and weights. */
#include "onnx/import/known.h"

#include <string.h>
#include "base/alloc.h"

/* Elements that may be computed beyond a few times those of the model's tensors. */
enum { FREE_ELEMENTS = 1 << 24, TIMES = 8 };

bool fire_onnx_is_integer(int type)
{
    return type != FIRE_ONNX(FLOAT) && type != FIRE_ONNX(DOUBLE) &&
           type != FIRE_ONNX(FLOAT16) && type != FIRE_ONNX(BFLOAT16);
}

static bool within_budget(fire_onnx_import_t *x, int64_t count)
{
    int64_t most = FREE_ELEMENTS;

    for (int64_t i = 0; i < x->m->ntensor; i++) {
        int64_t n = x->m->tensor[i].count;

        if (x->m->tensor[i].data != NULL && n < INT64_MAX / 64 / TIMES)
            most += TIMES * n;
    }
    if (count > most - x->computed) return false;
    x->computed += count;
    return true;
}

fire_status_t fire_onnx_make_known(fire_onnx_import_t *x, int type, int ndim,
                                   const int64_t *dim, fire_onnx_tensor_t *t_p)
{
    fire_onnx_tensor_t t = {.type = type, .ndim = ndim};

    if (ndim > FIRE_MAX_DIMS) return FIRE_FAIL(FIRE_ERR_PARSE, "%d axes", ndim);
    if (ndim > 0) memcpy(t.dim, dim, (size_t)ndim * sizeof(*dim));
    FIRE_TRY(fire_onnx_tensor_count(&t));
    if (!within_budget(x, t.count))
        return FIRE_ONNX_LACKS("a computed constant of %lld elements",
                               (long long)t.count);
    FIRE_TRY(
        fire_alloc((size_t)t.count, fire_onnx_type_size(t.type), "a constant", &t.own));
    t.data = t.own;
    *t_p   = t;
    return FIRE_OK;
}

void fire_onnx_put_known(fire_onnx_tensor_t *t, int64_t i, double v)
{
    if (t->type != FIRE_ONNX(INT64))
        ((float *)t->own)[i] = (float)v;
    else if (v >= 9.2233720368547758e18)
        ((int64_t *)t->own)[i] = INT64_MAX;
    else if (v <= -9.2233720368547758e18)
        ((int64_t *)t->own)[i] = INT64_MIN;
    else
        ((int64_t *)t->own)[i] = v == v ? (int64_t)v : 0;
}

fire_status_t fire_onnx_common_shape(int na, const int64_t *a, int nb, const int64_t *b,
                                     int *ndim_p, int64_t dim[FIRE_MAX_DIMS])
{
    int n = na > nb ? na : nb;

    for (int i = 0; i < n; i++) {
        int64_t p = i < n - na ? 1 : a[i - (n - na)];
        int64_t q = i < n - nb ? 1 : b[i - (n - nb)];

        if (p != q && p != 1 && q != 1)
            return FIRE_FAIL(FIRE_ERR_PARSE, "shapes that do not fit together");
        dim[i] = p == 1 ? q : p;
    }
    *ndim_p = n;
    return FIRE_OK;
}

int64_t fire_onnx_repeated(const fire_onnx_tensor_t *t, int ndim, const int64_t *dim,
                           int64_t at)
{
    int64_t index = 0, step = 1;

    for (int i = ndim - 1, k = t->ndim - 1; k >= 0; i--, k--) {
        if (t->dim[k] != 1) index += at % dim[i] * step;
        step *= t->dim[k];
        at /= dim[i];
    }
    return index;
}

/* ---- Constant, Shape ---- */

static fire_status_t constant(fire_onnx_import_t *x)
{
    const Onnx__AttributeProto *a = fire_onnx_attribute(x->node, "value");
    fire_onnx_tensor_t          t;
    int64_t                     n;
    bool                        integer;

    if (a != NULL && a->has_t) {
        FIRE_TRY(fire_onnx_tensor_parse(x->m, a->t.data, a->t.len, NULL, &t));
        return fire_onnx_set_const(x, 0, &t);
    }
    if (x->node->n_attribute == 0) return FIRE_FAIL(FIRE_ERR_PARSE, "it has no value");
    a = x->node->attribute[0];
    n = a->n_ints > 0 ? (int64_t)a->n_ints : (int64_t)a->n_floats;
    if (n == 0 && !a->has_i && !a->has_f)
        return FIRE_ONNX_LACKS("constants are tensors or numbers");
    integer = a->n_ints > 0 || a->has_i;
    FIRE_TRY(fire_onnx_make_known(x, integer ? FIRE_ONNX(INT64) : FIRE_ONNX(FLOAT),
                                  n > 0 ? 1 : 0, &n, &t));
    if (n == 0 && integer) ((int64_t *)t.own)[0] = a->i;
    if (n == 0 && !integer) ((float *)t.own)[0] = a->f;
    for (int64_t i = 0; i < n; i++)
        if (integer)
            ((int64_t *)t.own)[i] = a->ints[i];
        else
            ((float *)t.own)[i] = a->floats[i];
    return fire_onnx_set_const(x, 0, &t);
}

/* Shape, or the number of elements. */
static fire_status_t shape(fire_onnx_import_t *x)
{
    const fire_onnx_operand_t *v     = fire_onnx_input(x, 0);
    int64_t                    first = fire_onnx_get_int(x, "start", 0), n, product = 1;
    int64_t                    end  = fire_onnx_get_int(x, "end", INT32_MAX);
    bool                       size = strcmp(x->node->op_type, "Size") == 0;
    fire_onnx_tensor_t         t;

    if (v == NULL) return FIRE_FAIL(FIRE_ERR_PARSE, "it has no input");
    if (first < 0) first += v->ndim;
    if (end < 0) end += v->ndim;
    if (first < 0) first = 0;
    if (end > v->ndim) end = v->ndim;
    n = end > first ? end - first : 0;
    FIRE_TRY(fire_onnx_make_known(x, FIRE_ONNX(INT64), size ? 0 : 1, &n, &t));
    for (int64_t i = 0; i < n && !size; i++)
        ((int64_t *)t.own)[i] = v->dim[first + i];
    for (int i = 0; i < v->ndim && size; i++)
        product = v->dim[i] > 0 && product > INT64_MAX / v->dim[i]
                      ? INT64_MAX
                      : product * v->dim[i];
    if (size) ((int64_t *)t.own)[0] = product;
    return fire_onnx_set_const(x, 0, &t);
}

/* ---- the node ---- */

/* All inputs are constants with values. */
static bool is_known(const fire_onnx_import_t *x)
{
    int n = 0;

    for (int i = 0; i < (int)x->node->n_input; i++) {
        const fire_onnx_operand_t *v = fire_onnx_input(x, i);

        if (v == NULL) continue;
        if (v->state != FIRE_ONNX_CONST || fire_onnx_type_size(v->t->type) == 0)
            return false;
        n++;
    }
    return n > 0;
}

fire_status_t fire_onnx_fold_node(fire_onnx_import_t *x, bool *folded_p)
{
    const char      *op = x->node->op_type;
    fire_onnx_take_t f;

    *folded_p = true;
    if (strcmp(op, "Constant") == 0) return constant(x);
    if (strcmp(op, "Shape") == 0 || strcmp(op, "Size") == 0) return shape(x);
    *folded_p = is_known(x);
    if (!*folded_p) return FIRE_OK;
    f = fire_onnx_find_math(x);
    if (f == NULL) f = fire_onnx_find_move(op);
    if (f == NULL) f = fire_onnx_find_index(op);
    if (f != NULL) return f(x);
    f = fire_onnx_find_take(op);
    if (f != NULL) return fire_onnx_compute_layers(x, f);
    return FIRE_ONNX_LACKS(
        "its inputs are constants, and it is none of the operators that "
        "are computed while importing");
}
