/* known_move.c - operators that move elements of tensors which are known when the model
 * is read. The result has the type of the tensor. */
#include <string.h>
#include "onnx/import/known.h"

/* ---- the same elements in another shape ---- */

/* Data may stay in the model's file. */
static fire_status_t view(fire_onnx_import_t *x, const fire_onnx_tensor_t *a, int ndim,
                          const int64_t *dim)
{
    fire_onnx_tensor_t t = {.type = a->type, .ndim = ndim, .data = a->data};

    if (ndim > 0) memcpy(t.dim, dim, (size_t)ndim * sizeof(*dim));
    FIRE_TRY(fire_onnx_tensor_count(&t));
    if (t.count != a->count)
        return FIRE_FAIL(FIRE_ERR_PARSE, "a shape of %lld elements for %lld",
                         (long long)t.count, (long long)a->count);
    return fire_onnx_set_const(x, 0, &t);
}

static fire_status_t same(fire_onnx_import_t *x)
{
    const fire_onnx_tensor_t *a;

    FIRE_TRY(fire_onnx_constant(x, 0, &a));
    return view(x, a, a->ndim, a->dim);
}

static fire_status_t reshape(fire_onnx_import_t *x)
{
    const fire_onnx_tensor_t *a;
    int64_t                   dim[FIRE_MAX_DIMS], known = 1;
    bool                      keep = fire_onnx_get_int(x, "allowzero", 0) == 0;
    int                       n;

    FIRE_TRY(fire_onnx_constant(x, 0, &a));
    FIRE_TRY(fire_onnx_get_ints(x, "shape", 1, &n, dim));
    for (int i = 0; i < n; i++) {
        if (dim[i] == 0 && i < a->ndim && keep) dim[i] = a->dim[i];
        if (dim[i] > 0 && known <= a->count / dim[i]) known *= dim[i];
    }
    for (int i = 0; i < n; i++)
        if (dim[i] == -1) dim[i] = a->count / known;
    return view(x, a, n, dim);
}

static fire_status_t flatten(fire_onnx_import_t *x)
{
    const fire_onnx_tensor_t *a;
    int64_t                   dim[2] = {1, 1}, axis = fire_onnx_get_int(x, "axis", 1);

    FIRE_TRY(fire_onnx_constant(x, 0, &a));
    if (axis < 0) axis += a->ndim;
    for (int i = 0; i < a->ndim; i++)
        dim[i < axis ? 0 : 1] *= a->dim[i];
    return view(x, a, 2, dim);
}

static fire_status_t unsqueeze(fire_onnx_import_t *x)
{
    const fire_onnx_tensor_t *a;
    int64_t                   list[FIRE_MAX_DIMS], dim[FIRE_MAX_DIMS];
    uint64_t                  set = 0;
    int                       n, axis, from = 0;

    FIRE_TRY(fire_onnx_constant(x, 0, &a));
    FIRE_TRY(fire_onnx_get_ints(x, "axes", 1, &n, list));
    if (a->ndim + n > FIRE_MAX_DIMS) return FIRE_FAIL(FIRE_ERR_PARSE, "too many axes");
    for (int i = 0; i < n; i++) {
        FIRE_TRY(fire_onnx_axis(list[i], a->ndim + n, &axis));
        set |= UINT64_C(1) << axis;
    }
    for (int i = 0; i < a->ndim + n; i++)
        dim[i] = (set >> i & 1) != 0 || from >= a->ndim ? 1 : a->dim[from++];
    return view(x, a, a->ndim + n, dim);
}

static fire_status_t squeeze(fire_onnx_import_t *x)
{
    const fire_onnx_tensor_t *a;
    int64_t                   list[FIRE_MAX_DIMS], dim[FIRE_MAX_DIMS];
    uint64_t                  set = 0;
    int                       n, axis, ndim = 0;

    FIRE_TRY(fire_onnx_constant(x, 0, &a));
    FIRE_TRY(fire_onnx_get_ints(x, "axes", 1, &n, list));
    for (int i = 0; i < n; i++) {
        FIRE_TRY(fire_onnx_axis(list[i], a->ndim, &axis));
        set |= UINT64_C(1) << axis;
    }
    for (int i = 0; i < a->ndim; i++)
        if (n == 0 ? a->dim[i] != 1 : (set >> i & 1) == 0) dim[ndim++] = a->dim[i];
    return view(x, a, ndim, dim);
}

/* ---- elements at regular distances ---- */

static void strides_of(const fire_onnx_tensor_t *a, int64_t *step)
{
    int64_t s = 1;

    for (int i = a->ndim - 1; i >= 0; i--) {
        step[i] = s;
        s *= a->dim[i];
    }
}

static void copy_element(const fire_onnx_tensor_t *from, int64_t i,
                         fire_onnx_tensor_t *to, int64_t k)
{
    size_t size = fire_onnx_type_size(from->type);

    memcpy((char *)to->own + (size_t)k * size,
           (const char *)from->data + (size_t)i * size, size);
}

/* Output i of the shape dim is made of the elements offset + sum of place * step. */
static fire_status_t pick(fire_onnx_import_t *x, int i, const fire_onnx_tensor_t *a,
                          int ndim, const int64_t *dim, int64_t offset,
                          const int64_t *step)
{
    int64_t            at[FIRE_MAX_DIMS] = {0};
    fire_onnx_tensor_t t;

    FIRE_TRY(fire_onnx_make_known(x, a->type, ndim, dim, &t));
    for (int64_t k = 0; k < t.count; k++) {
        copy_element(a, offset, &t, k);
        for (int d = ndim - 1; d >= 0; d--) {
            offset += step[d];
            if (++at[d] < dim[d]) break;
            offset -= step[d] * at[d];
            at[d] = 0;
        }
    }
    return fire_onnx_set_const(x, i, &t);
}

static fire_status_t transpose(fire_onnx_import_t *x)
{
    const fire_onnx_tensor_t *a;
    int64_t perm[FIRE_MAX_DIMS], from[FIRE_MAX_DIMS], dim[FIRE_MAX_DIMS],
        step[FIRE_MAX_DIMS];
    uint64_t set = 0;
    int      n, axis;

    FIRE_TRY(fire_onnx_constant(x, 0, &a));
    FIRE_TRY(fire_onnx_get_ints(x, "perm", -1, &n, perm));
    if (n != 0 && n != a->ndim)
        return FIRE_FAIL(FIRE_ERR_PARSE, "an order of %d for %d axes", n, a->ndim);
    strides_of(a, from);
    for (int i = 0; i < a->ndim; i++) {
        FIRE_TRY(fire_onnx_axis(n == 0 ? a->ndim - 1 - i : perm[i], a->ndim, &axis));
        if (set >> axis & 1) return FIRE_FAIL(FIRE_ERR_PARSE, "axis %d twice", axis);
        set |= UINT64_C(1) << axis;
        dim[i]  = a->dim[axis];
        step[i] = from[axis];
    }
    return pick(x, 0, a, a->ndim, dim, 0, step);
}

static fire_status_t slice(fire_onnx_import_t *x)
{
    fire_onnx_operand_t      *v = fire_onnx_input(x, 0);
    const fire_onnx_tensor_t *a;
    fire_onnx_parts_t         p;
    int64_t                   step[FIRE_MAX_DIMS], offset = 0;

    FIRE_TRY(fire_onnx_constant(x, 0, &a));
    FIRE_TRY(fire_onnx_read_parts(x, v->ndim, v->dim, &p));
    strides_of(a, step);
    for (int i = 0; i < a->ndim; i++) {
        offset += p.begin[i] * step[i];
        step[i] *= p.step[i];
    }
    return pick(x, 0, a, a->ndim, p.count, offset, step);
}

/* Expand, and ConstantOfShape without its value. */
static fire_status_t expand(fire_onnx_import_t *x)
{
    const fire_onnx_tensor_t *a;
    int64_t shape[FIRE_MAX_DIMS], dim[FIRE_MAX_DIMS], from[FIRE_MAX_DIMS],
        step[FIRE_MAX_DIMS];
    int n, ndim;

    FIRE_TRY(fire_onnx_constant(x, 0, &a));
    FIRE_TRY(fire_onnx_get_ints(x, "", 1, &n, shape));
    FIRE_TRY(fire_onnx_common_shape(a->ndim, a->dim, n, shape, &ndim, dim));
    strides_of(a, from);
    for (int i = 0; i < ndim; i++) {
        int k = i - (ndim - a->ndim);

        step[i] = k < 0 || a->dim[k] == 1 ? 0 : from[k];
    }
    return pick(x, 0, a, ndim, dim, 0, step);
}

static fire_status_t tile(fire_onnx_import_t *x)
{
    const fire_onnx_tensor_t *a;
    fire_onnx_tensor_t       *t;
    int64_t times[FIRE_MAX_DIMS], from[FIRE_MAX_DIMS], dim[FIRE_MAX_DIMS],
        step[FIRE_MAX_DIMS];
    int n;

    FIRE_TRY(fire_onnx_constant(x, 0, &a));
    FIRE_TRY(fire_onnx_get_ints(x, "", 1, &n, times));
    if (n != a->ndim || 2 * n > FIRE_MAX_DIMS)
        return FIRE_FAIL(FIRE_ERR_PARSE, "%d repeats for %d axes", n, a->ndim);
    strides_of(a, from);
    for (int i = 0; i < n; i++) { /* each axis as (times, its size) */
        dim[2 * i]      = times[i];
        dim[2 * i + 1]  = a->dim[i];
        step[2 * i]     = 0;
        step[2 * i + 1] = from[i];
    }
    FIRE_TRY(pick(x, 0, a, 2 * n, dim, 0, step));
    t       = x->made[x->nmade - 1];
    t->ndim = n;
    for (int i = 0; i < n; i++)
        t->dim[i] = dim[2 * i] * dim[2 * i + 1];
    fire_onnx_set_known(x, 0, t);
    return FIRE_OK;
}

static fire_status_t split(fire_onnx_import_t *x)
{
    const fire_onnx_tensor_t *a;
    int64_t part[FIRE_ONNX_MOST_PARTS], dim[FIRE_MAX_DIMS], step[FIRE_MAX_DIMS], at = 0;
    int     axis;

    FIRE_TRY(fire_onnx_constant(x, 0, &a));
    FIRE_TRY(fire_onnx_axis(fire_onnx_get_int(x, "axis", 0), a->ndim, &axis));
    FIRE_TRY(fire_onnx_read_split(x, a->dim[axis], part));
    strides_of(a, step);
    memcpy(dim, a->dim, sizeof(dim));
    for (int i = 0; i < (int)x->node->n_output; i++) {
        dim[axis] = part[i];
        FIRE_TRY(pick(x, i, a, a->ndim, dim, at * step[axis], step));
        at += part[i];
    }
    return FIRE_OK;
}

/* ---- elements by number, and side by side ---- */

static int64_t product(const int64_t *dim, int first, int end)
{
    int64_t n = 1;

    for (int i = first; i < end; i++)
        n *= dim[i];
    return n;
}

static fire_status_t gather(fire_onnx_import_t *x)
{
    const fire_onnx_tensor_t *a, *index;
    fire_onnx_tensor_t        t;
    int64_t                   dim[FIRE_MAX_DIMS], outer, block;
    int                       axis, ndim = 0;
    size_t                    bytes;

    FIRE_TRY(fire_onnx_constant(x, 0, &a));
    FIRE_TRY(fire_onnx_constant(x, 1, &index));
    FIRE_TRY(fire_onnx_axis(fire_onnx_get_int(x, "axis", 0), a->ndim, &axis));
    if (a->ndim + index->ndim - 1 > FIRE_MAX_DIMS)
        return FIRE_FAIL(FIRE_ERR_PARSE, "too many axes");
    for (int64_t i = 0; i < index->count; i++) {
        int64_t k = fire_onnx_tensor_integer(index, i);

        if (k < -a->dim[axis] || k >= a->dim[axis])
            return FIRE_FAIL(FIRE_ERR_PARSE, "element %lld of %lld", (long long)k,
                             (long long)a->dim[axis]);
    }
    for (int i = 0; i < a->ndim; i++)
        if (i != axis)
            dim[ndim++] = a->dim[i];
        else
            for (int k = 0; k < index->ndim; k++)
                dim[ndim++] = index->dim[k];
    FIRE_TRY(fire_onnx_make_known(x, a->type, ndim, dim, &t));
    outer = product(a->dim, 0, axis);
    block = product(a->dim, axis + 1, a->ndim);
    bytes = (size_t)block * fire_onnx_type_size(a->type);
    for (int64_t o = 0; o < outer && t.count > 0; o++)
        for (int64_t i = 0; i < index->count; i++) {
            int64_t k = fire_onnx_tensor_integer(index, i);

            if (k < 0) k += a->dim[axis];
            memcpy((char *)t.own + (size_t)(o * index->count + i) * bytes,
                   (const char *)a->data + (size_t)(o * a->dim[axis] + k) * bytes,
                   bytes);
        }
    return fire_onnx_set_const(x, 0, &t);
}

/* Set dim to the shape of the result and *type_p to what it holds: numbers of different
 * types become INT64 or FLOAT. */
static fire_status_t concat_shape(const fire_onnx_import_t *x, int axis, int64_t *dim,
                                  int *type_p)
{
    const fire_onnx_tensor_t *a, *first;
    bool                      integer = true, equal = true;

    FIRE_TRY(fire_onnx_constant(x, 0, &first));
    memcpy(dim, first->dim, sizeof(first->dim));
    dim[axis] = 0;
    for (int i = 0; i < (int)x->node->n_input; i++) {
        FIRE_TRY(fire_onnx_constant(x, i, &a));
        for (int k = 0; k < first->ndim; k++)
            if (a->ndim != first->ndim || (k != axis && a->dim[k] != first->dim[k]))
                return FIRE_FAIL(FIRE_ERR_PARSE, "inputs 0 and %d do not fit together",
                                 i);
        dim[axis] += a->dim[axis];
        integer &= fire_onnx_is_integer(a->type);
        equal &= a->type == first->type;
    }
    *type_p = equal ? first->type : integer ? FIRE_ONNX(INT64) : FIRE_ONNX(FLOAT);
    return FIRE_OK;
}

static fire_status_t concat(fire_onnx_import_t *x)
{
    const fire_onnx_tensor_t *a;
    fire_onnx_tensor_t        t;
    int64_t                   dim[FIRE_MAX_DIMS], outer, rows, at = 0;
    int                       axis, type;

    FIRE_TRY(fire_onnx_constant(x, 0, &a));
    FIRE_TRY(fire_onnx_axis(fire_onnx_get_int(x, "axis", 1), a->ndim, &axis));
    FIRE_TRY(concat_shape(x, axis, dim, &type));
    FIRE_TRY(fire_onnx_make_known(x, type, a->ndim, dim, &t));
    outer = product(dim, 0, axis);
    rows  = product(dim, axis, t.ndim);
    for (int i = 0; i < (int)x->node->n_input; i++) {
        const fire_onnx_tensor_t *b = fire_onnx_input(x, i)->t;
        int64_t                   n = product(b->dim, axis, b->ndim);

        for (int64_t o = 0; o < outer; o++)
            for (int64_t k = 0; k < n; k++)
                if (b->type == type)
                    copy_element(b, o * n + k, &t, o * rows + at + k);
                else
                    fire_onnx_put_known(&t, o * rows + at + k,
                                        fire_onnx_tensor_number(b, o * n + k));
        at += n;
    }
    return fire_onnx_set_const(x, 0, &t);
}

/* ---- new elements ---- */

/* Copies of one number in a shape. */
static fire_status_t fill(fire_onnx_import_t *x)
{
    const Onnx__AttributeProto *a   = fire_onnx_attribute(x->node, "value");
    fire_onnx_tensor_t          one = {.type = FIRE_ONNX(FLOAT)}, t;
    int64_t                     dim[FIRE_MAX_DIMS];
    int                         n;
    double                      v = 0;
    fire_status_t               st;

    FIRE_TRY(fire_onnx_get_ints(x, "", 0, &n, dim));
    if (a != NULL && a->has_t)
        FIRE_TRY(fire_onnx_tensor_parse(x->m, a->t.data, a->t.len, NULL, &one));
    if (one.count > 0 && one.data != NULL) v = fire_onnx_tensor_number(&one, 0);
    st = fire_onnx_make_known(
        x, fire_onnx_is_integer(one.type) ? FIRE_ONNX(INT64) : FIRE_ONNX(FLOAT), n, dim,
        &t);
    fire_onnx_tensor_fini(&one);
    FIRE_TRY(st);
    for (int64_t i = 0; i < t.count; i++)
        fire_onnx_put_known(&t, i, v);
    return fire_onnx_set_const(x, 0, &t);
}

static fire_status_t range(fire_onnx_import_t *x)
{
    const fire_onnx_tensor_t *a[3];
    fire_onnx_tensor_t        t;
    double                    begin, end, step;
    int64_t                   n;

    for (int i = 0; i < 3; i++) {
        FIRE_TRY(fire_onnx_constant(x, i, &a[i]));
        if (a[i]->count != 1)
            return FIRE_FAIL(FIRE_ERR_PARSE, "it needs three numbers");
    }
    begin = fire_onnx_tensor_number(a[0], 0);
    end   = fire_onnx_tensor_number(a[1], 0);
    step  = fire_onnx_tensor_number(a[2], 0);
    if (!(step != 0 && (end - begin) / step < 1e9))
        return FIRE_ONNX_LACKS("a range from %g to %g by %g", begin, end, step);
    n = (int64_t)((end - begin) / step);
    n = n < 0 ? 0 : n;
    while (step > 0 ? begin + (double)n * step < end : begin + (double)n * step > end)
        n++;
    FIRE_TRY(fire_onnx_make_known(
        x, fire_onnx_is_integer(a[0]->type) ? FIRE_ONNX(INT64) : FIRE_ONNX(FLOAT), 1,
        &n, &t));
    for (int64_t i = 0; i < n; i++)
        fire_onnx_put_known(&t, i, begin + (double)i * step);
    return fire_onnx_set_const(x, 0, &t);
}

fire_onnx_take_t fire_onnx_find_move(const char *op)
{
    static const struct {
        const char      *op;
        fire_onnx_take_t f;
    } rows[] = {
        {"Identity", same},   {"Reshape", reshape},     {"Flatten", flatten},
        {"Squeeze", squeeze}, {"Unsqueeze", unsqueeze}, {"Transpose", transpose},
        {"Slice", slice},     {"Expand", expand},       {"Tile", tile},
        {"Split", split},     {"Gather", gather},       {"Concat", concat},
        {"Range", range},     {"ConstantOfShape", fill}};

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (strcmp(op, rows[i].op) == 0) return rows[i].f;
    return NULL;
}
