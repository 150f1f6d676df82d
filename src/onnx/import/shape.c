/* shape.c - operators that move values without changing them. */
#include <string.h>
#include "onnx/import/take.h"

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

fire_status_t fire_onnx_take_cast(fire_onnx_import_t *x)
{
    int64_t to = fire_onnx_get_int(x, "to", 0);

    if (to != FIRE_ONNX(FLOAT) && to != FIRE_ONNX(DOUBLE) && to != FIRE_ONNX(FLOAT16) &&
        to != FIRE_ONNX(BFLOAT16))
        return FIRE_ONNX_LACKS("blobs are floats");
    return fire_onnx_take_nothing(x);
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

fire_status_t fire_onnx_take_concat(fire_onnx_import_t *x)
{
    const fire_onnx_operand_t *first, *v;
    Caffe__ConcatParameter    *p;
    Caffe__LayerParameter     *l;
    int64_t                    dim[FIRE_MAX_DIMS];
    int                        axis;

    FIRE_TRY(fire_onnx_blob(x, 0, &first));
    FIRE_TRY(fire_onnx_axis(fire_onnx_get_int(x, "axis", 1), first->ndim, &axis));
    memcpy(dim, first->dim, sizeof(dim));
    for (int i = 1; i < (int)x->node->n_input; i++) {
        FIRE_TRY(fire_onnx_blob(x, i, &v));
        for (int k = 0; k < first->ndim; k++)
            if (v->ndim != first->ndim || (k != axis && v->dim[k] != first->dim[k]))
                return FIRE_FAIL(FIRE_ERR_PARSE, "inputs 0 and %d do not fit together",
                                 i);
        dim[axis] += v->dim[axis];
    }
    FIRE_TRY(fire_onnx_last(x, "Concat", first->blob, &l));
    for (int i = 1; i < (int)x->node->n_input; i++) {
        FIRE_TRY(fire_onnx_blob(x, i, &v));
        FIRE_TRY(fire_onnx_add_bottom(l, v->blob));
    }
    if (axis != 1) {
        FIRE_ONNX_SETTINGS(l, "concat_param", &p);
        p->has_axis = true;
        p->axis     = axis;
    }
    return fire_onnx_set_blob(x, 0, l->top[0], first->ndim, dim);
}

/* ---- Split and Slice ---- */

static fire_status_t add_slice(fire_onnx_import_t *x, const char *bottom, int axis,
                               bool last, Caffe__LayerParameter **l_p,
                               Caffe__SliceParameter **p_p)
{
    FIRE_TRY(last ? fire_onnx_last(x, "Slice", bottom, l_p)
                  : fire_onnx_step(x, "Slice", bottom, l_p));
    FIRE_ONNX_SETTINGS(*l_p, "slice_param", p_p);
    (*p_p)->has_axis = true;
    (*p_p)->axis     = axis;
    return FIRE_OK;
}

/* Sizes of the parts: the input, an attribute, or equal ones. */
static fire_status_t read_parts(const fire_onnx_import_t *x, int64_t n,
                                int64_t part[FIRE_MAX_DIMS])
{
    int     given, want = (int)x->node->n_output;
    int64_t sum = 0, each = (n + want - 1) / want;

    if (want > FIRE_MAX_DIMS) return FIRE_ONNX_LACKS("%d parts", want);
    FIRE_TRY(fire_onnx_get_ints(x, "split", 1, &given, part));
    for (int i = 0; i < want; i++) {
        if (given == 0) part[i] = i < want - 1 ? each : n - each * (want - 1);
        if (part[i] < 1 || part[i] > n)
            return FIRE_FAIL(FIRE_ERR_PARSE, "a part of %lld of %lld",
                             (long long)part[i], (long long)n);
        sum += part[i];
    }
    if ((given != 0 && given != want) || sum != n)
        return FIRE_FAIL(FIRE_ERR_PARSE, "the parts make %lld of %lld", (long long)sum,
                         (long long)n);
    return FIRE_OK;
}

fire_status_t fire_onnx_take_split(fire_onnx_import_t *x)
{
    const fire_onnx_operand_t *in;
    Caffe__SliceParameter     *p;
    Caffe__LayerParameter     *l;
    int64_t                    part[FIRE_MAX_DIMS], dim[FIRE_MAX_DIMS], at = 0;
    int                        axis;

    FIRE_TRY(fire_onnx_blob(x, 0, &in));
    FIRE_TRY(fire_onnx_axis(fire_onnx_get_int(x, "axis", 0), in->ndim, &axis));
    FIRE_TRY(read_parts(x, in->dim[axis], part));
    FIRE_TRY(add_slice(x, in->blob, axis, true, &l, &p));
    memcpy(dim, in->dim, sizeof(dim));
    for (int i = 0; i < (int)x->node->n_output; i++) {
        if (i > 0) FIRE_TRY(fire_onnx_append_u32(p, "slice_point", at));
        if (i > 0) FIRE_TRY(fire_onnx_add_top(x, l, i));
        at += part[i];
        dim[axis] = part[i];
        FIRE_TRY(fire_onnx_set_blob(x, i, l->top[i], in->ndim, dim));
    }
    return FIRE_OK;
}

/* Elements [begin, end) of an axis; *blob_p and dim become what is left. What is cut off
 * before and behind is silenced. */
static fire_status_t cut(fire_onnx_import_t *x, bool last, const char **blob_p,
                         int64_t *dim, int axis, int64_t begin, int64_t end)
{
    Caffe__LayerParameter *l, *silence;
    Caffe__SliceParameter *p;
    int                    want = begin > 0 ? 1 : 0;

    FIRE_TRY(add_slice(x, *blob_p, axis, last, &l, &p));
    if (begin > 0) FIRE_TRY(fire_onnx_append_u32(p, "slice_point", begin));
    if (end < dim[axis]) FIRE_TRY(fire_onnx_append_u32(p, "slice_point", end));
    for (size_t i = 0; i < p->n_slice_point; i++)
        FIRE_TRY(fire_onnx_add_top(x, l, -1));
    if (want == 1) { /* the result is the second part, and has the name */
        char *first = l->top[0];

        l->top[0] = l->top[1];
        l->top[1] = first;
    }
    dim[axis] = end - begin;
    *blob_p   = l->top[want];
    FIRE_TRY(fire_onnx_step(x, "Silence", NULL, &silence));
    fire_message_clear_field(silence, "top");
    for (int i = 0; i < (int)l->n_top; i++)
        if (i != want) FIRE_TRY(fire_onnx_add_bottom(silence, l->top[i]));
    return FIRE_OK;
}

static int64_t clamp(int64_t at, int64_t n)
{
    if (at < 0) at += n;
    return at < 0 ? 0 : at > n ? n : at;
}

/* Fill begin and end for every axis of the input. */
static fire_status_t read_parts_of_axes(const fire_onnx_import_t  *x,
                                        const fire_onnx_operand_t *in, int64_t *begin,
                                        int64_t *end)
{
    int64_t first[FIRE_MAX_DIMS], stop[FIRE_MAX_DIMS], axes[FIRE_MAX_DIMS],
        step[FIRE_MAX_DIMS];
    int n, m, naxis, nstep, axis;

    FIRE_TRY(fire_onnx_get_ints(x, "starts", 1, &n, first));
    FIRE_TRY(fire_onnx_get_ints(x, "ends", 2, &m, stop));
    FIRE_TRY(fire_onnx_get_ints(x, "axes", 3, &naxis, axes));
    FIRE_TRY(fire_onnx_get_ints(x, "steps", 4, &nstep, step));
    if (n != m || (naxis != 0 && naxis != n) || (nstep != 0 && nstep != n) ||
        n > in->ndim)
        return FIRE_FAIL(FIRE_ERR_PARSE,
                         "starts, ends, axes and steps differ in number");
    for (int i = 0; i < in->ndim; i++) {
        begin[i] = 0;
        end[i]   = in->dim[i];
    }
    for (int i = 0; i < n; i++) {
        FIRE_TRY(fire_onnx_axis(naxis != 0 ? axes[i] : i, in->ndim, &axis));
        if (nstep != 0 && step[i] != 1) return FIRE_ONNX_LACKS("steps other than 1");
        begin[axis] = clamp(first[i], in->dim[axis]);
        end[axis]   = clamp(stop[i], in->dim[axis]);
        if (begin[axis] >= end[axis]) return FIRE_ONNX_LACKS("nothing is left");
    }
    return FIRE_OK;
}

/* A Slice for each axis that is cut. */
fire_status_t fire_onnx_take_slice(fire_onnx_import_t *x)
{
    const fire_onnx_operand_t *in;
    int64_t     begin[FIRE_MAX_DIMS], end[FIRE_MAX_DIMS], dim[FIRE_MAX_DIMS];
    const char *blob;
    int         last = -1;

    FIRE_TRY(fire_onnx_blob(x, 0, &in));
    FIRE_TRY(read_parts_of_axes(x, in, begin, end));
    for (int i = 0; i < in->ndim; i++)
        if (end[i] - begin[i] < in->dim[i]) last = i;
    if (last < 0) return fire_onnx_take_nothing(x);
    memcpy(dim, in->dim, sizeof(dim));
    blob = in->blob;
    for (int i = 0; i <= last; i++)
        if (end[i] - begin[i] < in->dim[i])
            FIRE_TRY(cut(x, i == last, &blob, dim, i, begin[i], end[i]));
    return fire_onnx_set_blob(x, 0, blob, in->ndim, dim);
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

fire_status_t fire_onnx_take_transpose(fire_onnx_import_t *x)
{
    const fire_onnx_operand_t *in;
    Caffe__PermuteParameter   *p;
    Caffe__LayerParameter     *l;
    int64_t                    perm[FIRE_MAX_DIMS], dim[FIRE_MAX_DIMS];
    int                        n, axis;

    FIRE_TRY(fire_onnx_blob(x, 0, &in));
    FIRE_TRY(fire_onnx_get_ints(x, "perm", -1, &n, perm));
    if (n != 0 && n != in->ndim)
        return FIRE_FAIL(FIRE_ERR_PARSE, "an order of %d for %d axes", n, in->ndim);
    FIRE_TRY(fire_onnx_last(x, "Permute", in->blob, &l));
    FIRE_ONNX_SETTINGS(l, "permute_param", &p);
    for (int i = 0; i < in->ndim; i++) {
        FIRE_TRY(fire_onnx_axis(n == 0 ? in->ndim - 1 - i : perm[i], in->ndim, &axis));
        FIRE_TRY(fire_onnx_append_u32(p, "order", axis));
        dim[i] = in->dim[axis];
    }
    return fire_onnx_set_blob(x, 0, l->top[0], in->ndim, dim);
}

fire_status_t fire_onnx_take_softmax(fire_onnx_import_t *x)
{
    const fire_onnx_operand_t *in;
    Caffe__SoftmaxParameter   *p;
    Caffe__LayerParameter     *l;
    int                        axis;

    FIRE_TRY(fire_onnx_blob(x, 0, &in));
    FIRE_TRY(fire_onnx_axis(fire_onnx_get_int(x, "axis", x->m->opset < 13 ? 1 : -1),
                            in->ndim, &axis));
    if (x->m->opset < 13 && axis != in->ndim - 1)
        return FIRE_ONNX_LACKS("before version 13 it flattens the axes behind");
    FIRE_TRY(fire_onnx_take_unary(x, "Softmax", &l));
    if (axis == 1) return FIRE_OK;
    FIRE_ONNX_SETTINGS(l, "softmax_param", &p);
    p->has_axis = true;
    p->axis     = axis;
    return FIRE_OK;
}

static fire_status_t part(fire_onnx_import_t *x, const fire_onnx_operand_t *in,
                          int axis, int64_t first, const fire_onnx_tensor_t *index)
{
    const char *blob = in->blob;
    int64_t     dim[FIRE_MAX_DIMS];

    if (index->ndim != 1) return FIRE_ONNX_LACKS("a part of an axis in another shape");
    memcpy(dim, in->dim, sizeof(dim));
    FIRE_TRY(cut(x, true, &blob, dim, axis, first, first + index->count));
    return fire_onnx_set_blob(x, 0, blob, in->ndim, dim);
}

/* Elements of an axis one after another: a view of it, or a part. */
fire_status_t fire_onnx_take_gather(fire_onnx_import_t *x)
{
    const fire_onnx_operand_t *in;
    const fire_onnx_tensor_t  *index;
    int64_t                    dim[FIRE_MAX_DIMS], first;
    int                        axis, n = 0;

    FIRE_TRY(fire_onnx_blob(x, 0, &in));
    FIRE_TRY(fire_onnx_constant(x, 1, &index));
    FIRE_TRY(fire_onnx_axis(fire_onnx_get_int(x, "axis", 0), in->ndim, &axis));
    first = index->count > 0 ? fire_onnx_tensor_integer(index, 0) : -1;
    if (first < 0 || index->ndim == 0 || first + index->count > in->dim[axis] ||
        in->ndim + index->ndim - 1 > FIRE_MAX_DIMS)
        return FIRE_ONNX_LACKS("only elements that follow each other are taken out");
    for (int64_t i = 0; i < index->count; i++)
        if (fire_onnx_tensor_integer(index, i) != first + i)
            return FIRE_ONNX_LACKS(
                "only elements that follow each other are taken out");
    if (index->count < in->dim[axis]) return part(x, in, axis, first, index);
    for (int i = 0; i < in->ndim; i++)
        if (i != axis)
            dim[n++] = in->dim[i];
        else
            for (int k = 0; k < index->ndim; k++)
                dim[n++] = index->dim[k];
    return reshape(x, in, n, dim);
}

/* Padding of nothing; other padding belongs to the layer behind. */
fire_status_t fire_onnx_take_pad(fire_onnx_import_t *x)
{
    int64_t pads[FIRE_MAX_DIMS];
    int     n;

    FIRE_TRY(fire_onnx_get_ints(x, "pads", 1, &n, pads));
    for (int i = 0; i < n; i++)
        if (pads[i] != 0) return FIRE_ONNX_LACKS("no layer pads alone");
    return fire_onnx_take_nothing(x);
}
