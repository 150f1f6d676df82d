/* known_index.c - operators that find elements of known tensors by numbers: GatherND,
 * GatherElements, ScatterND; and CumSum, Trilu. Numbers come out as INT64 or
 * FLOAT. */
#include <string.h>
#include "onnx/import/known.h"

static fire_status_t make(fire_onnx_import_t *x, const fire_onnx_tensor_t *like,
                          int ndim, const int64_t *dim, fire_onnx_tensor_t *t_p)
{
    return fire_onnx_make_known(
        x, fire_onnx_is_integer(like->type) ? FIRE_ONNX(INT64) : FIRE_ONNX(FLOAT), ndim,
        dim, t_p);
}

static int64_t product(const int64_t *dim, int first, int end)
{
    int64_t n = 1;

    for (int i = first; i < end; i++)
        n *= dim[i];
    return n;
}

/* An index counts from the end if it is negative. */
static fire_status_t read_index(const fire_onnx_tensor_t *index, int64_t at, int64_t n,
                                int64_t *k_p)
{
    int64_t k = fire_onnx_tensor_integer(index, at);

    if (k < -n || k >= n)
        return FIRE_FAIL(FIRE_ERR_PARSE, "element %lld of %lld", (long long)k,
                         (long long)n);
    *k_p = k < 0 ? k + n : k;
    return FIRE_OK;
}

/* ---- rows of numbers, each the place of a block ---- */

typedef struct places {
    const fire_onnx_tensor_t *a, *index;
    int                       depth; /* numbers of a row: axes of a that they tell */
    int64_t                   rows, block;
} places_t;

static fire_status_t read_places(const fire_onnx_import_t *x, places_t *p)
{
    FIRE_TRY(fire_onnx_constant(x, 0, &p->a));
    FIRE_TRY(fire_onnx_constant(x, 1, &p->index));
    if (p->index->ndim < 1 || p->index->dim[p->index->ndim - 1] < 1 ||
        p->index->dim[p->index->ndim - 1] > p->a->ndim)
        return FIRE_FAIL(FIRE_ERR_PARSE, "its numbers do not fit to %d axes",
                         p->a->ndim);
    p->depth = (int)p->index->dim[p->index->ndim - 1];
    p->rows  = p->index->count / p->depth;
    p->block = product(p->a->dim, p->depth, p->a->ndim);
    return FIRE_OK;
}

/* The first element of a row's block. */
static fire_status_t place_of(const places_t *p, int64_t row, int64_t *at_p)
{
    int64_t at = 0, k;

    for (int i = 0; i < p->depth; i++) {
        FIRE_TRY(read_index(p->index, row * p->depth + i, p->a->dim[i], &k));
        at = at * p->a->dim[i] + k;
    }
    *at_p = at * p->block;
    return FIRE_OK;
}

static fire_status_t gather_blocks(const places_t *p, fire_onnx_tensor_t *t)
{
    int64_t at;

    for (int64_t row = 0; row < p->rows; row++) {
        FIRE_TRY(place_of(p, row, &at));
        for (int64_t i = 0; i < p->block; i++)
            fire_onnx_put_known(t, row * p->block + i,
                                fire_onnx_tensor_number(p->a, at + i));
    }
    return FIRE_OK;
}

static fire_status_t finish(fire_onnx_import_t *x, fire_status_t st,
                            fire_onnx_tensor_t *t)
{
    if (st >= 0) return fire_onnx_set_const(x, 0, t);
    fire_onnx_tensor_fini(t);
    return st;
}

static fire_status_t gather_nd(fire_onnx_import_t *x)
{
    places_t           p;
    fire_onnx_tensor_t t;
    int64_t            dim[2 * FIRE_MAX_DIMS];
    int                n;

    if (fire_onnx_get_int(x, "batch_dims", 0) != 0)
        return FIRE_ONNX_LACKS("batch_dims other than 0");
    FIRE_TRY(read_places(x, &p));
    n = p.index->ndim - 1;
    memcpy(dim, p.index->dim, (size_t)n * sizeof(*dim));
    for (int i = p.depth; i < p.a->ndim; i++)
        dim[n++] = p.a->dim[i];
    FIRE_TRY(make(x, p.a, n, dim, &t));
    return finish(x, gather_blocks(&p, &t), &t);
}

static fire_status_t scatter_blocks(const places_t *p, const fire_onnx_tensor_t *from,
                                    fire_onnx_tensor_t *t)
{
    int64_t at;

    if (from->count != p->rows * p->block)
        return FIRE_FAIL(FIRE_ERR_PARSE, "%lld elements for %lld places",
                         (long long)from->count, (long long)(p->rows * p->block));
    for (int64_t i = 0; i < t->count; i++)
        fire_onnx_put_known(t, i, fire_onnx_tensor_number(p->a, i));
    for (int64_t row = 0; row < p->rows; row++) {
        FIRE_TRY(place_of(p, row, &at));
        for (int64_t i = 0; i < p->block; i++)
            fire_onnx_put_known(t, at + i,
                                fire_onnx_tensor_number(from, row * p->block + i));
    }
    return FIRE_OK;
}

static fire_status_t scatter_nd(fire_onnx_import_t *x)
{
    const fire_onnx_tensor_t *from;
    places_t                  p;
    fire_onnx_tensor_t        t;

    if (!fire_onnx_text_is(x, "reduction", "none", true))
        return FIRE_ONNX_LACKS("a reduction of what is there");
    FIRE_TRY(read_places(x, &p));
    FIRE_TRY(fire_onnx_constant(x, 2, &from));
    FIRE_TRY(make(x, p.a, p.a->ndim, p.a->dim, &t));
    return finish(x, scatter_blocks(&p, from, &t), &t);
}

/* ---- along an axis ---- */

/* Element i of the numbers' shape: the place of its number's element in a. */
static fire_status_t place_along(const fire_onnx_tensor_t *a,
                                 const fire_onnx_tensor_t *index, int axis, int64_t i,
                                 int64_t *at_p)
{
    int64_t step = 1, at = 0, rest = i, k;

    for (int d = a->ndim - 1; d >= 0; d--) {
        k = rest % index->dim[d];
        rest /= index->dim[d];
        if (d == axis) FIRE_TRY(read_index(index, i, a->dim[d], &k));
        at += k * step;
        step *= a->dim[d];
    }
    *at_p = at;
    return FIRE_OK;
}

static fire_status_t gather_elements(fire_onnx_import_t *x)
{
    const fire_onnx_tensor_t *a, *index;
    fire_onnx_tensor_t        t;
    fire_status_t             st = FIRE_OK;
    int64_t                   at;
    int                       axis;

    FIRE_TRY(fire_onnx_constant(x, 0, &a));
    FIRE_TRY(fire_onnx_constant(x, 1, &index));
    FIRE_TRY(fire_onnx_axis(fire_onnx_get_int(x, "axis", 0), a->ndim, &axis));
    for (int i = 0; i < a->ndim; i++)
        if (index->ndim != a->ndim || (i != axis && index->dim[i] > a->dim[i]))
            return FIRE_FAIL(FIRE_ERR_PARSE, "its numbers have another shape");
    FIRE_TRY(make(x, a, index->ndim, index->dim, &t));
    for (int64_t i = 0; i < t.count && st >= 0; i++) {
        st = place_along(a, index, axis, i, &at);
        if (st >= 0) fire_onnx_put_known(&t, i, fire_onnx_tensor_number(a, at));
    }
    return finish(x, st, &t);
}

/* The sum of the elements up to each one. */
static fire_status_t cumsum(fire_onnx_import_t *x)
{
    const fire_onnx_tensor_t *a, *where;
    fire_onnx_tensor_t        t;
    bool                      before  = fire_onnx_get_int(x, "exclusive", 0) != 0;
    bool                      reverse = fire_onnx_get_int(x, "reverse", 0) != 0;
    int                       axis;
    int64_t                   n, inner;

    FIRE_TRY(fire_onnx_constant(x, 0, &a));
    FIRE_TRY(fire_onnx_constant(x, 1, &where));
    if (where->count != 1) return FIRE_FAIL(FIRE_ERR_PARSE, "its axis is no number");
    FIRE_TRY(fire_onnx_axis(fire_onnx_tensor_integer(where, 0), a->ndim, &axis));
    FIRE_TRY(make(x, a, a->ndim, a->dim, &t));
    n     = a->dim[axis];
    inner = product(a->dim, axis + 1, a->ndim);
    for (int64_t o = 0; o < (n > 0 ? t.count / n : 0); o++) {
        int64_t first = o / inner * n * inner + o % inner;
        double  sum   = 0;

        for (int64_t i = 0; i < n; i++) {
            int64_t at = first + (reverse ? n - 1 - i : i) * inner;
            double  v  = fire_onnx_tensor_number(a, at);

            fire_onnx_put_known(&t, at, before ? sum : sum + v);
            sum += v;
        }
    }
    return fire_onnx_set_const(x, 0, &t);
}

/* Zeros below, or above, a diagonal of the last two axes. */
static fire_status_t trilu(fire_onnx_import_t *x)
{
    const fire_onnx_tensor_t *a, *k;
    fire_onnx_tensor_t        t;
    bool                      upper    = fire_onnx_get_int(x, "upper", 1) != 0;
    int64_t                   diagonal = 0;

    FIRE_TRY(fire_onnx_constant(x, 0, &a));
    if (a->ndim < 2) return FIRE_FAIL(FIRE_ERR_PARSE, "it needs a matrix");
    if (fire_onnx_input(x, 1) != NULL) {
        FIRE_TRY(fire_onnx_constant(x, 1, &k));
        if (k->count != 1) return FIRE_FAIL(FIRE_ERR_PARSE, "k is no number");
        diagonal = fire_onnx_tensor_integer(k, 0);
    }
    FIRE_TRY(make(x, a, a->ndim, a->dim, &t));
    for (int64_t i = 0; i < t.count; i++) {
        int64_t column = i % a->dim[a->ndim - 1];
        int64_t row    = i / a->dim[a->ndim - 1] % a->dim[a->ndim - 2];
        bool    keep   = upper ? column - diagonal >= row : column - diagonal <= row;

        fire_onnx_put_known(&t, i, keep ? fire_onnx_tensor_number(a, i) : 0);
    }
    return fire_onnx_set_const(x, 0, &t);
}

fire_onnx_take_t fire_onnx_find_index(const char *op)
{
    static const struct {
        const char      *op;
        fire_onnx_take_t f;
    } rows[] = {{"GatherND", gather_nd},
                {"GatherElements", gather_elements},
                {"ScatterND", scatter_nd},
                {"CumSum", cumsum},
                {"Trilu", trilu}};

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (strcmp(op, rows[i].op) == 0) return rows[i].f;
    return NULL;
}
