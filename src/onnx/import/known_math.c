/* known_math.c - arithmetic on tensors that are known when the model is read. */
#include <math.h>
#include <string.h>
#include "onnx/import/known.h"

/* ---- one or two numbers ---- */

typedef double (*unary_t)(double a);
typedef double (*binary_t)(double a, double b, bool integer);

static double f_same(double a)
{
    return a;
}

static double f_neg(double a)
{
    return -a;
}

static double f_round(double a) /* halves to the even number */
{
    return nearbyint(a);
}

static double f_reciprocal(double a)
{
    return 1 / a;
}

static double f_sigmoid(double a)
{
    return 1 / (1 + exp(-a));
}

static double f_relu(double a)
{
    return a > 0 ? a : 0;
}

static double f_sign(double a)
{
    return a > 0 ? 1 : a < 0 ? -1 : 0;
}

static double f_not(double a)
{
    return a == 0;
}

static const struct {
    const char *op;
    unary_t     f;
} unaries[] = {{"Cast", f_same},   {"Floor", floor},       {"Ceil", ceil},
               {"Round", f_round}, {"Sqrt", sqrt},         {"Neg", f_neg},
               {"Abs", fabs},      {"Exp", exp},           {"Log", log},
               {"Sin", sin},       {"Cos", cos},           {"Tanh", tanh},
               {"Erf", erf},       {"Sigmoid", f_sigmoid}, {"Relu", f_relu},
               {"Sign", f_sign},   {"Not", f_not},         {"Reciprocal", f_reciprocal},
               {"Dropout", f_same}};

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

/* The sign is the divisor's, or with fmod the dividend's. */
static double f_mod(double a, double b, bool integer)
{
    if (b == 0) return 0;
    return integer ? a - floor(a / b) * b : fmod(a, b);
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

static double f_equal(double a, double b, bool integer)
{
    (void)integer;
    return a == b;
}

static double f_greater(double a, double b, bool integer)
{
    (void)integer;
    return a > b;
}

static double f_less(double a, double b, bool integer)
{
    (void)integer;
    return a < b;
}

static double f_greater_or_equal(double a, double b, bool integer)
{
    (void)integer;
    return a >= b;
}

static double f_less_or_equal(double a, double b, bool integer)
{
    (void)integer;
    return a <= b;
}

static double f_and(double a, double b, bool integer)
{
    (void)integer;
    return a != 0 && b != 0;
}

static double f_or(double a, double b, bool integer)
{
    (void)integer;
    return a != 0 || b != 0;
}

static const struct {
    const char *op;
    binary_t    f;
    bool        truth; /* the result is true or false */
} binaries[] = {{"Add", f_add, false},
                {"Sum", f_add, false},
                {"Sub", f_sub, false},
                {"Mul", f_mul, false},
                {"Div", f_div, false},
                {"Mod", f_mod, false},
                {"Max", f_max, false},
                {"Min", f_min, false},
                {"Pow", f_pow, false},
                {"Equal", f_equal, true},
                {"Greater", f_greater, true},
                {"Less", f_less, true},
                {"GreaterOrEqual", f_greater_or_equal, true},
                {"LessOrEqual", f_less_or_equal, true},
                {"And", f_and, true},
                {"Or", f_or, true}};

static int find_unary(const char *op)
{
    for (size_t i = 0; i < sizeof(unaries) / sizeof(unaries[0]); i++)
        if (strcmp(op, unaries[i].op) == 0) return (int)i;
    return -1;
}

static int find_binary(const char *op)
{
    for (size_t i = 0; i < sizeof(binaries) / sizeof(binaries[0]); i++)
        if (strcmp(op, binaries[i].op) == 0) return (int)i;
    return -1;
}

static int number_type(bool integer)
{
    return integer ? FIRE_ONNX(INT64) : FIRE_ONNX(FLOAT);
}

static fire_status_t unary(fire_onnx_import_t *x)
{
    const fire_onnx_tensor_t *a;
    fire_onnx_tensor_t        t;
    unary_t                   f = unaries[find_unary(x->node->op_type)].f;
    bool                      integer;

    FIRE_TRY(fire_onnx_constant(x, 0, &a));
    integer = fire_onnx_is_integer(a->type);
    if (strcmp(x->node->op_type, "Cast") == 0)
        integer = fire_onnx_is_integer((int)fire_onnx_get_int(x, "to", 1));
    FIRE_TRY(fire_onnx_make_known(x, number_type(integer), a->ndim, a->dim, &t));
    for (int64_t i = 0; i < t.count; i++)
        fire_onnx_put_known(&t, i, f(fire_onnx_tensor_number(a, i)));
    return fire_onnx_set_const(x, 0, &t);
}

/* f of all inputs, from the first to the last. */
static fire_status_t binary(fire_onnx_import_t *x)
{
    int                       k = find_binary(x->node->op_type), ndim;
    int64_t                   dim[FIRE_MAX_DIMS];
    const fire_onnx_tensor_t *a, *b;
    fire_onnx_tensor_t        t, last = {0};
    bool                      integer;
    fire_status_t             st = FIRE_OK;

    FIRE_TRY(fire_onnx_constant(x, 0, &a));
    for (int i = 1; i < (int)x->node->n_input && st >= 0; i++) {
        st = fire_onnx_constant(x, i, &b);
        if (st >= 0)
            st = fire_onnx_common_shape(a->ndim, a->dim, b->ndim, b->dim, &ndim, dim);
        integer = fire_onnx_is_integer(a->type);
        if (st >= 0)
            st = fire_onnx_make_known(x, number_type(integer || binaries[k].truth),
                                      ndim, dim, &t);
        if (st < 0) break;
        for (int64_t e = 0; e < t.count; e++)
            fire_onnx_put_known(
                &t, e,
                binaries[k].f(
                    fire_onnx_tensor_number(a, fire_onnx_repeated(a, ndim, dim, e)),
                    fire_onnx_tensor_number(b, fire_onnx_repeated(b, ndim, dim, e)),
                    integer));
        fire_onnx_tensor_fini(&last);
        last = t;
        a    = &last;
    }
    if (st < 0 || last.data == NULL) {
        fire_onnx_tensor_fini(&last);
        return st < 0 ? st : FIRE_FAIL(FIRE_ERR_PARSE, "it needs two inputs");
    }
    return fire_onnx_set_const(x, 0, &last);
}

/* ---- Where ---- */

static fire_status_t where(fire_onnx_import_t *x)
{
    const fire_onnx_tensor_t *c, *v[2];
    fire_onnx_tensor_t        t;
    int64_t                   dim[FIRE_MAX_DIMS], part[FIRE_MAX_DIMS];
    int                       ndim;

    FIRE_TRY(fire_onnx_constant(x, 0, &c));
    FIRE_TRY(fire_onnx_constant(x, 1, &v[0]));
    FIRE_TRY(fire_onnx_constant(x, 2, &v[1]));
    FIRE_TRY(
        fire_onnx_common_shape(c->ndim, c->dim, v[0]->ndim, v[0]->dim, &ndim, part));
    FIRE_TRY(fire_onnx_common_shape(ndim, part, v[1]->ndim, v[1]->dim, &ndim, dim));
    FIRE_TRY(fire_onnx_make_known(x, number_type(fire_onnx_is_integer(v[0]->type)),
                                  ndim, dim, &t));
    for (int64_t i = 0; i < t.count; i++) {
        bool yes = fire_onnx_tensor_number(c, fire_onnx_repeated(c, ndim, dim, i)) != 0;
        const fire_onnx_tensor_t *from = v[yes ? 0 : 1];

        fire_onnx_put_known(
            &t, i,
            fire_onnx_tensor_number(from, fire_onnx_repeated(from, ndim, dim, i)));
    }
    return fire_onnx_set_const(x, 0, &t);
}

/* ---- reductions ---- */

typedef enum reduction { NONE, SUM, MEAN, MAX, MIN, PROD, L1, L2, SUMSQ } reduction_t;

static reduction_t find_reduction(const char *op)
{
    static const char *const name[] = {"",          "ReduceSum", "ReduceMean",
                                       "ReduceMax", "ReduceMin", "ReduceProd",
                                       "ReduceL1",  "ReduceL2",  "ReduceSumSquare"};

    for (int i = SUM; i <= SUMSQ; i++)
        if (strcmp(op, name[i]) == 0) return (reduction_t)i;
    return NONE;
}

static double with(reduction_t r, double sum, double v)
{
    switch (r) {
    case MAX:
        return v > sum ? v : sum;
    case MIN:
        return v < sum ? v : sum;
    case PROD:
        return sum * v;
    case L1:
        return sum + fabs(v);
    case L2:
    case SUMSQ:
        return sum + v * v;
    default:
        return sum + v;
    }
}

/* Bits of the axes that go; all, unless there are some given. */
static fire_status_t read_axes(const fire_onnx_import_t *x, int ndim, uint64_t *set_p)
{
    int64_t list[FIRE_MAX_DIMS];
    int     n, axis;

    *set_p = 0;
    FIRE_TRY(fire_onnx_get_ints(x, "axes", 1, &n, list));
    for (int i = 0; i < n; i++) {
        FIRE_TRY(fire_onnx_axis(list[i], ndim, &axis));
        *set_p |= UINT64_C(1) << axis;
    }
    if (n == 0 && fire_onnx_get_int(x, "noop_with_empty_axes", 0) == 0)
        *set_p = UINT64_MAX;
    return FIRE_OK;
}

static void add_up(reduction_t r, const fire_onnx_tensor_t *a, uint64_t set,
                   double *sum, int64_t n)
{
    for (int64_t k = 0; k < n; k++)
        sum[k] = r == MAX ? -INFINITY : r == MIN ? INFINITY : r == PROD ? 1 : 0;
    for (int64_t i = 0; i < a->count; i++) {
        int64_t rest = i, at = 0, step = 1;

        for (int d = a->ndim - 1; d >= 0; d--) {
            if ((set >> d & 1) == 0) {
                at += rest % a->dim[d] * step;
                step *= a->dim[d];
            }
            rest /= a->dim[d];
        }
        sum[at] = with(r, sum[at], fire_onnx_tensor_number(a, i));
    }
}

static fire_status_t reduce(fire_onnx_import_t *x)
{
    reduction_t               r    = find_reduction(x->node->op_type);
    bool                      keep = fire_onnx_get_int(x, "keepdims", 1) != 0;
    const fire_onnx_tensor_t *a;
    fire_onnx_tensor_t        t, sum;
    int64_t                   dim[FIRE_MAX_DIMS];
    uint64_t                  set;
    int                       ndim = 0;

    FIRE_TRY(fire_onnx_constant(x, 0, &a));
    FIRE_TRY(read_axes(x, a->ndim, &set));
    for (int i = 0; i < a->ndim; i++)
        if ((set >> i & 1) == 0)
            dim[ndim++] = a->dim[i];
        else if (keep)
            dim[ndim++] = 1;
    FIRE_TRY(fire_onnx_make_known(x, number_type(fire_onnx_is_integer(a->type)), ndim,
                                  dim, &t));
    if (fire_onnx_make_known(x, FIRE_ONNX(DOUBLE), 1, &t.count, &sum) < 0) {
        fire_onnx_tensor_fini(&t);
        return FIRE_ERR_UNSUPPORTED;
    }
    add_up(r, a, set, sum.own, t.count);
    for (int64_t i = 0; i < t.count; i++) {
        double v = ((double *)sum.own)[i];

        if (r == MEAN) v /= (double)a->count / (double)t.count;
        fire_onnx_put_known(&t, i, r == L2 ? sqrt(v) : v);
    }
    fire_onnx_tensor_fini(&sum);
    return fire_onnx_set_const(x, 0, &t);
}

/* ---- the table ---- */

fire_onnx_take_t fire_onnx_find_math(const fire_onnx_import_t *x)
{
    const char *op = x->node->op_type;

    if (find_unary(op) >= 0) return unary;
    if (find_binary(op) >= 0 && x->node->n_input >= 2) return binary;
    if (strcmp(op, "Where") == 0 && x->node->n_input == 3) return where;
    return find_reduction(op) != NONE ? reduce : NULL;
}
