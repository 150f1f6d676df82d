/* import_fold.c - nodes whose result is known when the model is read: constants, shapes,
 * and what is computed from them. Exporters compute sizes so; the tensors are small. */
#include <math.h>
#include <string.h>
#include "base/alloc.h"
#include "model/message.h"
#include "onnx/import.h"

enum { MOST_ELEMENTS = 1 << 20 }; /* of a computed constant */

static bool is_integer(int type)
{
    return type != FIRE_ONNX(FLOAT) && type != FIRE_ONNX(DOUBLE) &&
           type != FIRE_ONNX(FLOAT16) && type != FIRE_ONNX(BFLOAT16);
}

/* A new tensor of floats or, if `integer`, of INT64. */
static fire_status_t make(bool integer, int ndim, const int64_t *dim,
                          fire_onnx_tensor_t *t_p)
{
    fire_onnx_tensor_t t = {.type = integer ? FIRE_ONNX(INT64) : FIRE_ONNX(FLOAT),
                            .ndim = ndim};

    if (ndim > 0) memcpy(t.dim, dim, (size_t)ndim * sizeof(*dim));
    FIRE_TRY(fire_onnx_tensor_count(&t));
    if (t.count > MOST_ELEMENTS)
        return FIRE_ONNX_LACKS("a computed constant of %lld elements",
                               (long long)t.count);
    FIRE_TRY(
        fire_alloc((size_t)t.count, fire_onnx_type_size(t.type), "a constant", &t.own));
    t.data = t.own;
    *t_p   = t;
    return FIRE_OK;
}

static void put(fire_onnx_tensor_t *t, int64_t i, double v)
{
    if (t->type == FIRE_ONNX(INT64))
        ((int64_t *)t->own)[i] = v > -9e18 && v < 9e18 ? (int64_t)v : 0;
    else
        ((float *)t->own)[i] = (float)v;
}

/* ---- Constant, Shape ---- */

static fire_status_t fold_constant(fire_onnx_import_t *x)
{
    const Onnx__AttributeProto *a = fire_onnx_attribute(x->node, "value");
    fire_onnx_tensor_t          t;
    int64_t                     n;

    if (a != NULL && a->has_t) {
        FIRE_TRY(fire_onnx_tensor_parse(x->m, a->t.data, a->t.len, NULL, &t));
        return fire_onnx_set_const(x, 0, &t);
    }
    if (x->node->n_attribute == 0) return FIRE_FAIL(FIRE_ERR_PARSE, "it has no value");
    a = x->node->attribute[0];
    n = a->n_ints > 0 ? (int64_t)a->n_ints : (int64_t)a->n_floats;
    if (n == 0 && !a->has_i && !a->has_f)
        return FIRE_ONNX_LACKS("constants are tensors or numbers");
    FIRE_TRY(make(a->n_ints > 0 || a->has_i, n > 0 ? 1 : 0, &n, &t));
    if (n == 0) put(&t, 0, a->has_i ? (double)a->i : (double)a->f);
    for (int64_t i = 0; i < n; i++)
        put(&t, i, a->n_ints > 0 ? (double)a->ints[i] : (double)a->floats[i]);
    return fire_onnx_set_const(x, 0, &t);
}

static fire_status_t fold_shape(fire_onnx_import_t *x)
{
    const fire_onnx_operand_t *v     = fire_onnx_input(x, 0);
    int64_t                    first = fire_onnx_get_int(x, "start", 0), n;
    int64_t                    end   = fire_onnx_get_int(x, "end", INT32_MAX);
    fire_onnx_tensor_t         t;

    if (v == NULL) return FIRE_FAIL(FIRE_ERR_PARSE, "it has no input");
    if (first < 0) first += v->ndim;
    if (end < 0) end += v->ndim;
    if (first < 0) first = 0;
    if (end > v->ndim) end = v->ndim;
    n = end > first ? end - first : 0;
    FIRE_TRY(make(true, 1, &n, &t));
    for (int64_t i = 0; i < n; i++)
        put(&t, i, (double)v->dim[first + i]);
    return fire_onnx_set_const(x, 0, &t);
}

/* ---- element by element ---- */

typedef double (*binary_t)(double a, double b, bool integer);

static double f_add(double a, double b, bool integer)
{
    (void)integer;
    return a + b;
}

static double f_sub(double a, double b, bool integer)
{
    (void)integer;
    return a - b;
}

static double f_mul(double a, double b, bool integer)
{
    (void)integer;
    return a * b;
}

static double f_div(double a, double b, bool integer)
{
    return integer ? (b != 0 ? trunc(a / b) : 0) : a / b;
}

static double f_equal(double a, double b, bool integer)
{
    (void)integer;
    return a == b;
}

static double f_max(double a, double b, bool integer)
{
    (void)integer;
    return a > b ? a : b;
}

static double f_min(double a, double b, bool integer)
{
    (void)integer;
    return a < b ? a : b;
}

static double f_pow(double a, double b, bool integer)
{
    (void)integer;
    return pow(a, b);
}

static const struct {
    const char *op;
    binary_t    f;
} binaries[] = {{"Add", f_add}, {"Sub", f_sub}, {"Mul", f_mul},     {"Div", f_div},
                {"Max", f_max}, {"Min", f_min}, {"Equal", f_equal}, {"Pow", f_pow}};

/* Index in t of the element that is repeated to place `at` of the shape dim[ndim]. */
static int64_t repeated(const fire_onnx_tensor_t *t, int ndim, const int64_t *dim,
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

static fire_status_t common_shape(const fire_onnx_tensor_t *a,
                                  const fire_onnx_tensor_t *b, int *ndim_p,
                                  int64_t dim[FIRE_MAX_DIMS])
{
    int n = a->ndim > b->ndim ? a->ndim : b->ndim;

    for (int i = 0; i < n; i++) {
        int64_t p = i < n - a->ndim ? 1 : a->dim[i - (n - a->ndim)];
        int64_t q = i < n - b->ndim ? 1 : b->dim[i - (n - b->ndim)];

        if (p != q && p != 1 && q != 1)
            return FIRE_FAIL(FIRE_ERR_PARSE, "shapes that do not fit together");
        dim[i] = p == 1 ? q : p;
    }
    *ndim_p = n;
    return FIRE_OK;
}

static fire_status_t fold_binary(fire_onnx_import_t *x, binary_t f)
{
    const fire_onnx_tensor_t *a, *b;
    fire_onnx_tensor_t        t;
    int64_t                   dim[FIRE_MAX_DIMS];
    int                       ndim;
    bool                      integer;

    FIRE_TRY(fire_onnx_constant(x, 0, &a));
    FIRE_TRY(fire_onnx_constant(x, 1, &b));
    FIRE_TRY(common_shape(a, b, &ndim, dim));
    integer = is_integer(a->type);
    FIRE_TRY(make(integer || f == f_equal, ndim, dim, &t));
    for (int64_t i = 0; i < t.count; i++)
        put(&t, i,
            f(fire_onnx_tensor_number(a, repeated(a, ndim, dim, i)),
              fire_onnx_tensor_number(b, repeated(b, ndim, dim, i)), integer));
    return fire_onnx_set_const(x, 0, &t);
}

/* Cast, Floor, Ceil, Sqrt, Neg, Identity: kind says which. */
static fire_status_t fold_unary(fire_onnx_import_t *x)
{
    const char               *op = x->node->op_type;
    const fire_onnx_tensor_t *a;
    fire_onnx_tensor_t        t;
    bool                      integer;

    FIRE_TRY(fire_onnx_constant(x, 0, &a));
    integer = is_integer(a->type);
    if (strcmp(op, "Cast") == 0)
        integer = is_integer((int)fire_onnx_get_int(x, "to", 1));
    FIRE_TRY(make(integer, a->ndim, a->dim, &t));
    for (int64_t i = 0; i < t.count; i++) {
        double v = fire_onnx_tensor_number(a, i);

        if (strcmp(op, "Floor") == 0) v = floor(v);
        if (strcmp(op, "Ceil") == 0) v = ceil(v);
        if (strcmp(op, "Sqrt") == 0) v = sqrt(v);
        if (strcmp(op, "Neg") == 0) v = -v;
        put(&t, i, v);
    }
    return fire_onnx_set_const(x, 0, &t);
}

/* ---- moving elements ---- */

/* The same elements in another shape; data may stay in the model's file. */
static fire_status_t fold_view(fire_onnx_import_t *x, const fire_onnx_tensor_t *a,
                               int ndim, const int64_t *dim)
{
    fire_onnx_tensor_t t = {.type = a->type, .ndim = ndim, .data = a->data};

    if (ndim > 0) memcpy(t.dim, dim, (size_t)ndim * sizeof(*dim));
    FIRE_TRY(fire_onnx_tensor_count(&t));
    if (t.count != a->count)
        return FIRE_FAIL(FIRE_ERR_PARSE, "a shape of %lld elements for %lld",
                         (long long)t.count, (long long)a->count);
    return fire_onnx_set_const(x, 0, &t);
}

/* Unsqueeze, Squeeze, Reshape and Flatten. */
static fire_status_t fold_shaping(fire_onnx_import_t *x)
{
    const char               *op = x->node->op_type;
    const fire_onnx_tensor_t *a;
    int64_t                   list[FIRE_MAX_DIMS], dim[FIRE_MAX_DIMS], known = 1;
    int                       n, axis, ndim = 0, from = 0;
    uint64_t                  set = 0;

    FIRE_TRY(fire_onnx_constant(x, 0, &a));
    if (strcmp(op, "Reshape") == 0) {
        FIRE_TRY(fire_onnx_get_ints(x, "shape", 1, &n, list));
        for (int i = 0; i < n; i++) {
            if (list[i] == 0 && i < a->ndim) list[i] = a->dim[i];
            if (list[i] > 0 && known <= a->count / list[i]) known *= list[i];
        }
        for (int i = 0; i < n; i++)
            dim[i] = list[i] == -1 ? a->count / (known > 0 ? known : 1) : list[i];
        return fold_view(x, a, n, dim);
    }
    FIRE_TRY(fire_onnx_get_ints(x, "axes", 1, &n, list));
    if (strcmp(op, "Unsqueeze") == 0) {
        if (a->ndim + n > FIRE_MAX_DIMS)
            return FIRE_FAIL(FIRE_ERR_PARSE, "too many axes");
        for (int i = 0; i < n; i++) {
            FIRE_TRY(fire_onnx_axis(list[i], a->ndim + n, &axis));
            set |= UINT64_C(1) << axis;
        }
        for (int i = 0; i < a->ndim + n; i++)
            dim[i] = (set >> i & 1) != 0 || from >= a->ndim ? 1 : a->dim[from++];
        return fold_view(x, a, a->ndim + n, dim);
    }
    for (int i = 0; i < n; i++) {
        FIRE_TRY(fire_onnx_axis(list[i], a->ndim, &axis));
        set |= UINT64_C(1) << axis;
    }
    for (int i = 0; i < a->ndim; i++)
        if (n == 0 ? a->dim[i] != 1 : (set >> i & 1) == 0) dim[ndim++] = a->dim[i];
    return fold_view(x, a, ndim, dim);
}

/* Elements of a list by their numbers, or one of them. */
static fire_status_t fold_gather(fire_onnx_import_t *x)
{
    const fire_onnx_tensor_t *a, *index;
    fire_onnx_tensor_t        t;

    FIRE_TRY(fire_onnx_constant(x, 0, &a));
    FIRE_TRY(fire_onnx_constant(x, 1, &index));
    if (a->ndim != 1 || fire_onnx_get_int(x, "axis", 0) > 0)
        return FIRE_ONNX_LACKS("elements of a constant with several axes");
    FIRE_TRY(make(is_integer(a->type), index->ndim, index->dim, &t));
    for (int64_t i = 0; i < t.count; i++) {
        int64_t k = fire_onnx_tensor_integer(index, i);

        if (k < 0) k += a->count;
        if (k < 0 || k >= a->count) {
            fire_onnx_tensor_fini(&t);
            return FIRE_FAIL(FIRE_ERR_PARSE, "element %lld of %lld", (long long)k,
                             (long long)a->count);
        }
        put(&t, i, fire_onnx_tensor_number(a, k));
    }
    return fire_onnx_set_const(x, 0, &t);
}

static fire_status_t fold_concat(fire_onnx_import_t *x)
{
    const fire_onnx_tensor_t *a;
    fire_onnx_tensor_t        t;
    int64_t                   n = 0, at = 0;
    bool                      integer = true;

    for (int i = 0; i < (int)x->node->n_input; i++) {
        FIRE_TRY(fire_onnx_constant(x, i, &a));
        if (a->ndim != 1) return FIRE_ONNX_LACKS("constants with several axes");
        n += a->count;
        integer &= is_integer(a->type);
    }
    FIRE_TRY(make(integer, 1, &n, &t));
    for (int i = 0; i < (int)x->node->n_input; i++) {
        const fire_onnx_operand_t *v = fire_onnx_input(x, i);

        for (int64_t k = 0; k < v->t->count; k++)
            put(&t, at++, fire_onnx_tensor_number(v->t, k));
    }
    return fire_onnx_set_const(x, 0, &t);
}

static fire_status_t fold_slice(fire_onnx_import_t *x)
{
    const fire_onnx_tensor_t *a;
    fire_onnx_tensor_t        t;
    int64_t begin[FIRE_MAX_DIMS], end[FIRE_MAX_DIMS], step[FIRE_MAX_DIMS] = {1}, n;
    int     k, m, s;

    FIRE_TRY(fire_onnx_constant(x, 0, &a));
    FIRE_TRY(fire_onnx_get_ints(x, "starts", 1, &k, begin));
    FIRE_TRY(fire_onnx_get_ints(x, "ends", 2, &m, end));
    FIRE_TRY(fire_onnx_get_ints(x, "steps", 4, &s, step));
    if (a->ndim != 1 || k != 1 || m != 1 || (s != 0 && step[0] != 1))
        return FIRE_ONNX_LACKS("a part of a constant with several axes");
    for (int i = 0; i < 2; i++) {
        int64_t *v = i == 0 ? begin : end;

        if (*v < 0) *v += a->count;
        *v = *v < 0 ? 0 : *v > a->count ? a->count : *v;
    }
    n = end[0] > begin[0] ? end[0] - begin[0] : 0;
    FIRE_TRY(make(is_integer(a->type), 1, &n, &t));
    for (int64_t i = 0; i < n; i++)
        put(&t, i, fire_onnx_tensor_number(a, begin[0] + i));
    return fire_onnx_set_const(x, 0, &t);
}

/* Copies of one number in a shape. */
static fire_status_t fold_fill(fire_onnx_import_t *x)
{
    const Onnx__AttributeProto *a    = fire_onnx_attribute(x->node, "value");
    bool                        full = strcmp(x->node->op_type, "ConstantOfShape") == 0;
    const fire_onnx_tensor_t   *from = NULL;
    fire_onnx_tensor_t          one  = {0}, t;
    int64_t                     dim[FIRE_MAX_DIMS];
    int                         n;
    fire_status_t               st;

    FIRE_TRY(fire_onnx_get_ints(x, "", full ? 0 : 1, &n, dim));
    if (!full) FIRE_TRY(fire_onnx_constant(x, 0, &from));
    if (!full && from->count != 1)
        return FIRE_ONNX_LACKS("a constant of several elements is repeated");
    if (full && a != NULL && a->has_t) {
        FIRE_TRY(fire_onnx_tensor_parse(x->m, a->t.data, a->t.len, NULL, &one));
        from = &one;
    }
    st = make(from != NULL && is_integer(from->type), n, dim, &t);
    for (int64_t i = 0; st >= 0 && i < t.count; i++)
        put(&t, i,
            from != NULL && from->count > 0 && from->data != NULL
                ? fire_onnx_tensor_number(from, 0)
                : 0);
    fire_onnx_tensor_fini(&one);
    return st < 0 ? st : fire_onnx_set_const(x, 0, &t);
}

/* ---- the node ---- */

static bool is_one_of(const char *op, const char *const *list)
{
    for (; *list != NULL; list++)
        if (strcmp(op, *list) == 0) return true;
    return false;
}

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
    static const char *const unary[]   = {"Cast", "Floor",    "Ceil", "Sqrt",
                                          "Neg",  "Identity", NULL};
    static const char *const shaping[] = {"Reshape", "Squeeze", "Unsqueeze", NULL};
    const char              *op        = x->node->op_type;

    *folded_p = true;
    if (strcmp(op, "Constant") == 0) return fold_constant(x);
    if (strcmp(op, "Shape") == 0) return fold_shape(x);
    *folded_p = is_known(x);
    if (!*folded_p) return FIRE_OK;
    for (size_t i = 0; i < sizeof(binaries) / sizeof(binaries[0]); i++)
        if (strcmp(op, binaries[i].op) == 0 && x->node->n_input == 2)
            return fold_binary(x, binaries[i].f);
    if (is_one_of(op, unary)) return fold_unary(x);
    if (is_one_of(op, shaping)) return fold_shaping(x);
    if (strcmp(op, "Gather") == 0) return fold_gather(x);
    if (strcmp(op, "Concat") == 0) return fold_concat(x);
    if (strcmp(op, "Slice") == 0) return fold_slice(x);
    if (strcmp(op, "ConstantOfShape") == 0 || strcmp(op, "Expand") == 0)
        return fold_fill(x);
    return FIRE_ONNX_LACKS(
        "its inputs are constants, and it is none of the operators that "
        "are computed while importing");
}
