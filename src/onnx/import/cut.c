/* cut.c - Split, Slice and Gather: parts of an axis. */
#include <string.h>
#include "onnx/import/chain.h"

/* ---- Split ---- */

fire_status_t fire_onnx_read_split(const fire_onnx_import_t *x, int64_t n,
                                   int64_t part[FIRE_ONNX_MOST_PARTS])
{
    const Onnx__AttributeProto *a    = fire_onnx_attribute(x->node, "split");
    const fire_onnx_tensor_t   *t    = NULL;
    int64_t                     want = (int64_t)x->node->n_output, sum = 0;
    int64_t                     each  = (n + want - 1) / want;
    bool                        given = a != NULL || fire_onnx_input(x, 1) != NULL;

    if (want > FIRE_ONNX_MOST_PARTS)
        return FIRE_ONNX_LACKS("%lld parts", (long long)want);
    if (given && a == NULL) FIRE_TRY(fire_onnx_constant(x, 1, &t));
    if (given && (a != NULL ? (int64_t)a->n_ints : t->count) != want)
        return FIRE_FAIL(FIRE_ERR_PARSE, "its sizes are not %lld", (long long)want);
    for (int i = 0; i < (int)want; i++) {
        part[i] = !given      ? (i < want - 1 ? each : n - each * (want - 1))
                  : a != NULL ? a->ints[i]
                              : fire_onnx_tensor_integer(t, i);
        if (part[i] < 1 || part[i] > n)
            return FIRE_FAIL(FIRE_ERR_PARSE, "a part of %lld of %lld",
                             (long long)part[i], (long long)n);
        sum += part[i];
    }
    if (sum != n)
        return FIRE_FAIL(FIRE_ERR_PARSE, "the parts make %lld of %lld", (long long)sum,
                         (long long)n);
    return FIRE_OK;
}

fire_status_t fire_onnx_take_split(fire_onnx_import_t *x)
{
    const fire_onnx_operand_t *in;
    Caffe__SliceParameter     *p;
    Caffe__LayerParameter     *l, *silence = NULL;
    int64_t                    part[FIRE_ONNX_MOST_PARTS], dim[FIRE_MAX_DIMS], at = 0;
    int                        axis;

    FIRE_TRY(fire_onnx_blob(x, 0, &in));
    FIRE_TRY(fire_onnx_axis(fire_onnx_get_int(x, "axis", 0), in->ndim, &axis));
    FIRE_TRY(fire_onnx_read_split(x, in->dim[axis], part));
    if (x->node->n_output == 1) return fire_onnx_take_nothing(x);
    FIRE_TRY(fire_onnx_last(x, "Slice", in->blob, &l));
    FIRE_ONNX_SETTINGS(l, "slice_param", &p);
    p->has_axis = true;
    p->axis     = axis;
    memcpy(dim, in->dim, sizeof(dim));
    for (int i = 0; i < (int)x->node->n_output; i++) {
        const fire_onnx_operand_t *v = fire_onnx_output(x, i);

        if (i > 0) FIRE_TRY(fire_onnx_append_u32(p, "slice_point", at));
        if (i > 0) FIRE_TRY(fire_onnx_add_top(x, l, i));
        at += part[i];
        dim[axis] = part[i];
        FIRE_TRY(fire_onnx_set_blob(x, i, l->top[i], in->ndim, dim));
        if (v != NULL && (v->nreader > 0 || v->is_output)) continue;
        if (silence == NULL) { /* what nobody reads is no output of the net */
            FIRE_TRY(fire_onnx_step(x, "Silence", NULL, &silence));
            fire_message_clear_field(silence, "top");
        }
        FIRE_TRY(fire_onnx_add_bottom(silence, l->top[i]));
    }
    return FIRE_OK;
}

/* ---- Slice ---- */

static int64_t clamp(int64_t at, int64_t n, int64_t low, int64_t high)
{
    if (at < 0) at += n;
    return at < low ? low : at > high ? high : at;
}

fire_status_t fire_onnx_read_parts(const fire_onnx_import_t *x, int ndim,
                                   const int64_t *dim, fire_onnx_parts_t *p)
{
    int64_t first[FIRE_MAX_DIMS], stop[FIRE_MAX_DIMS], axes[FIRE_MAX_DIMS],
        step[FIRE_MAX_DIMS];
    int n, m, naxis, nstep, axis;

    FIRE_TRY(fire_onnx_get_ints(x, "starts", 1, &n, first));
    FIRE_TRY(fire_onnx_get_ints(x, "ends", 2, &m, stop));
    FIRE_TRY(fire_onnx_get_ints(x, "axes", 3, &naxis, axes));
    FIRE_TRY(fire_onnx_get_ints(x, "steps", 4, &nstep, step));
    if (n != m || (naxis != 0 && naxis != n) || (nstep != 0 && nstep != n) || n > ndim)
        return FIRE_FAIL(FIRE_ERR_PARSE,
                         "starts, ends, axes and steps differ in number");
    for (int i = 0; i < ndim; i++) {
        p->begin[i] = 0;
        p->step[i]  = 1;
        p->count[i] = dim[i];
    }
    for (int i = 0; i < n; i++) {
        int64_t s = nstep != 0 ? step[i] : 1, d, begin, end;

        FIRE_TRY(fire_onnx_axis(naxis != 0 ? axes[i] : i, ndim, &axis));
        d = dim[axis];
        if (s == 0 || s < -INT32_MAX || d == 0)
            return FIRE_FAIL(FIRE_ERR_PARSE, "a step of %lld", (long long)s);
        if (s > d) s = d; /* the first element alone */
        begin = s > 0 ? clamp(first[i], d, 0, d) : clamp(first[i], d, 0, d - 1);
        end   = s > 0 ? clamp(stop[i], d, 0, d) : clamp(stop[i], d, -1, d - 1);
        p->begin[axis] = begin;
        p->step[axis]  = s;
        p->count[axis] = s > 0 ? (end > begin ? (end - begin - 1) / s + 1 : 0)
                               : (begin > end ? (begin - end - 1) / -s + 1 : 0);
        if (p->count[axis] == 0) p->begin[axis] = 0;
    }
    return FIRE_OK;
}

/* Elements of an axis by number, as runs that follow each other: each is cut out, then
 * they are joined. */
static fire_status_t by_number(fire_onnx_import_t *x, fire_onnx_chain_t *c, int axis,
                               int64_t n, int64_t (*number)(const void *arg, int64_t i),
                               const void *arg)
{
    fire_onnx_chain_t       run[FIRE_ONNX_MOST_PARTS];
    Caffe__ConcatParameter *p;
    Caffe__LayerParameter  *l;
    int                     nrun = 0;

    for (int64_t i = 0, k; i < n; i += k) {
        int64_t first = number(arg, i);

        for (k = 1; i + k < n && number(arg, i + k) == first + k;)
            k++;
        if (nrun == FIRE_ONNX_MOST_PARTS)
            return FIRE_ONNX_LACKS("%lld elements of an axis, in more than %d pieces",
                                   (long long)n, FIRE_ONNX_MOST_PARTS);
        run[nrun] = *c;
        FIRE_TRY(fire_onnx_chain_cut(x, &run[nrun++], axis, first, first + k));
    }
    *c = run[0];
    if (nrun == 1) return FIRE_OK;
    FIRE_TRY(fire_onnx_chain_add(x, c, "Concat", &l));
    for (int i = 1; i < nrun; i++)
        FIRE_TRY(fire_onnx_add_bottom(l, run[i].blob));
    FIRE_ONNX_SETTINGS(l, "concat_param", &p);
    p->has_axis  = true;
    p->axis      = axis;
    c->dim[axis] = n;
    return FIRE_OK;
}

typedef struct progression {
    int64_t begin, step;
} progression_t;

static int64_t number_of(const void *arg, int64_t i)
{
    const progression_t *p = arg;

    return p->begin + i * p->step;
}

/* Every step-th element: the axis becomes (count, step), of which one column is cut out.
 * Where the last step would lead out of the axis, it begins earlier or is padded. */
static fire_status_t every(fire_onnx_import_t *x, fire_onnx_chain_t *c, int axis,
                           int64_t begin, int64_t step, int64_t count)
{
    int64_t behind[FIRE_MAX_DIMS] = {0}, none[FIRE_MAX_DIMS] = {0}, dim[FIRE_MAX_DIMS];
    int64_t all = count * step, from = begin, column;
    int     ndim = c->ndim;

    if (ndim + 1 > FIRE_MAX_DIMS) return FIRE_ONNX_LACKS("too many axes");
    if (from + all > c->dim[axis])
        from = c->dim[axis] - all > 0 ? c->dim[axis] - all : 0;
    if (from + all > c->dim[axis]) {
        behind[axis] = from + all - c->dim[axis];
        FIRE_TRY(fire_onnx_chain_pad(x, c, CAFFE__PAD_PARAMETER__MODE__CONSTANT, 0,
                                     none, behind));
    }
    column = begin - from;
    FIRE_TRY(fire_onnx_chain_cut(x, c, axis, from, from + all));
    for (int i = 0; i <= ndim; i++)
        dim[i] = i < axis        ? c->dim[i]
                 : i == axis     ? count
                 : i == axis + 1 ? step
                                 : c->dim[i - 1];
    FIRE_TRY(fire_onnx_chain_reshape(x, c, ndim + 1, dim));
    FIRE_TRY(fire_onnx_chain_cut(x, c, axis + 1, column, column + 1));
    for (int i = axis + 1; i < ndim; i++)
        dim[i] = dim[i + 1];
    return fire_onnx_chain_reshape(x, c, ndim, dim);
}

fire_status_t fire_onnx_take_slice(fire_onnx_import_t *x)
{
    fire_onnx_chain_t c;
    fire_onnx_parts_t p;

    FIRE_TRY(fire_onnx_chain_begin(x, 0, &c));
    FIRE_TRY(fire_onnx_read_parts(x, c.ndim, c.dim, &p));
    for (int i = 0; i < c.ndim; i++) {
        const progression_t by = {p.begin[i], p.step[i]};

        if (p.count[i] == 0) return FIRE_ONNX_LACKS("nothing is left of axis %d", i);
        if (p.step[i] == 1 || p.count[i] == 1)
            FIRE_TRY(
                fire_onnx_chain_cut(x, &c, i, p.begin[i], p.begin[i] + p.count[i]));
        else if (p.step[i] > 0)
            FIRE_TRY(every(x, &c, i, p.begin[i], p.step[i], p.count[i]));
        else
            FIRE_TRY(by_number(x, &c, i, p.count[i], number_of, &by));
    }
    return fire_onnx_chain_end(x, 0, &c);
}

/* ---- Gather ---- */

typedef struct indices {
    const fire_onnx_tensor_t *t;
    int64_t                   n; /* of the axis: negative ones count from its end */
} indices_t;

static int64_t index_of(const void *arg, int64_t i)
{
    const indices_t *list = arg;
    int64_t          k    = fire_onnx_tensor_integer(list->t, i);

    return k < 0 ? k + list->n : k;
}

/* Rows of a table, by numbers that the net computes. */
static fire_status_t look_up(fire_onnx_import_t *x, const fire_onnx_tensor_t *table)
{
    fire_onnx_chain_t      c;
    Caffe__EmbedParameter *p;
    Caffe__LayerParameter *l;

    if (table->ndim != 2 || fire_onnx_get_int(x, "axis", 0) != 0)
        return FIRE_ONNX_LACKS("only rows of a matrix are taken by computed numbers");
    FIRE_TRY(fire_onnx_chain_begin(x, 1, &c));
    FIRE_TRY(fire_onnx_chain_add(x, &c, "Embed", &l));
    FIRE_ONNX_SETTINGS(l, "embed_param", &p);
    FIRE_TRY(fire_onnx_append_u32(p, "input_dim", table->dim[0]));
    FIRE_TRY(fire_onnx_append_u32(p, "num_output", table->dim[1]));
    p->has_bias_term = true;
    p->bias_term     = false;
    FIRE_TRY(fire_onnx_give_tensor(x, table, 2, table->dim));
    if (c.ndim == FIRE_MAX_DIMS) return FIRE_ONNX_LACKS("too many axes");
    c.dim[c.ndim++] = table->dim[1];
    return fire_onnx_chain_end(x, 0, &c);
}

/* The axis becomes `ndim` axes of the list of numbers. */
static fire_status_t gather(fire_onnx_import_t *x, fire_onnx_chain_t *c, int axis,
                            indices_t *list, int ndim)
{
    int64_t dim[FIRE_MAX_DIMS];
    int     n = 0;

    list->n = c->dim[axis];
    if (list->t->count == 0 || c->ndim + ndim - 1 > FIRE_MAX_DIMS)
        return FIRE_ONNX_LACKS("nothing is left of axis %d", axis);
    for (int64_t i = 0; i < list->t->count; i++)
        if (index_of(list, i) < 0 || index_of(list, i) >= list->n)
            return FIRE_FAIL(FIRE_ERR_PARSE, "element %lld of %lld",
                             (long long)index_of(list, i), (long long)list->n);
    FIRE_TRY(by_number(x, c, axis, list->t->count, index_of, list));
    for (int i = 0; i < c->ndim; i++)
        if (i != axis)
            dim[n++] = c->dim[i];
        else
            for (int k = 0; k < ndim; k++)
                dim[n++] = list->t->dim[k];
    FIRE_TRY(fire_onnx_chain_reshape(x, c, n, dim));
    return fire_onnx_chain_end(x, 0, c);
}

fire_status_t fire_onnx_take_gather(fire_onnx_import_t *x)
{
    const fire_onnx_operand_t *in = fire_onnx_input(x, 0);
    fire_onnx_chain_t          c;
    indices_t                  list;
    int                        axis;

    if (in != NULL && in->state == FIRE_ONNX_CONST) return look_up(x, in->t);
    FIRE_TRY(fire_onnx_chain_begin(x, 0, &c));
    FIRE_TRY(fire_onnx_constant(x, 1, &list.t));
    FIRE_TRY(fire_onnx_axis(fire_onnx_get_int(x, "axis", 0), c.ndim, &axis));
    return gather(x, &c, axis, &list, list.t->ndim);
}

/* Numbers of the first axis alone are those of a Gather. */
fire_status_t fire_onnx_take_gather_nd(fire_onnx_import_t *x)
{
    fire_onnx_chain_t c;
    indices_t         list;
    int               ndim;

    FIRE_TRY(fire_onnx_chain_begin(x, 0, &c));
    FIRE_TRY(fire_onnx_constant(x, 1, &list.t));
    ndim = list.t->ndim;
    if (ndim < 1 || c.ndim < 1 || list.t->dim[ndim - 1] != 1 ||
        fire_onnx_get_int(x, "batch_dims", 0) != 0)
        return FIRE_ONNX_LACKS("only items of the first axis are taken out");
    return gather(x, &c, 0, &list, ndim - 1);
}
