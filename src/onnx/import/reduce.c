/* reduce.c - ReduceMean and its kind, ArgMax. The layer Reduction takes the last axes, so
 * those that go are brought there first. */
#include <string.h>
#include "onnx/import/chain.h"

#define REDUCE(op) CAFFE__REDUCTION_PARAMETER__REDUCTION_OP__##op

/* Which axes go. */
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
        *set_p = (UINT64_C(1) << ndim) - 1;
    return FIRE_OK;
}

/* Bring the axes of the set behind the others; returns how many others there are. */
static fire_status_t axes_last(fire_onnx_import_t *x, fire_onnx_chain_t *c,
                               uint64_t set, int *kept_p)
{
    int order[FIRE_MAX_DIMS], n = 0;

    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < c->ndim; i++)
            if ((int)(set >> i & 1) == pass) order[n++] = i;
        if (pass == 0) *kept_p = n;
    }
    return fire_onnx_chain_permute(x, c, order);
}

/* The result's shape: without the axes of the set, or with ones there. */
static fire_status_t finish(fire_onnx_import_t *x, fire_onnx_chain_t *c, uint64_t set)
{
    const fire_onnx_operand_t *in   = fire_onnx_input(x, 0);
    bool                       keep = fire_onnx_get_int(x, "keepdims", 1) != 0;
    int64_t                    dim[FIRE_MAX_DIMS];
    int                        n = 0;

    for (int i = 0; i < in->ndim; i++)
        if ((set >> i & 1) == 0)
            dim[n++] = in->dim[i];
        else if (keep)
            dim[n++] = 1;
    FIRE_TRY(fire_onnx_chain_reshape(x, c, n, dim));
    return fire_onnx_chain_end(x, 0, c);
}

/* Begin the chain and read the axes; *whole_p: it is height and width of images. */
static fire_status_t begin(fire_onnx_import_t *x, fire_onnx_chain_t *c, uint64_t *set_p,
                           bool *whole_p)
{
    FIRE_TRY(fire_onnx_chain_begin(x, 0, c));
    FIRE_TRY(read_axes(x, c->ndim, set_p));
    *whole_p = c->ndim == 4 && *set_p == 12;
    return FIRE_OK;
}

static fire_status_t reduce(fire_onnx_import_t                    *x,
                            Caffe__ReductionParameter__ReductionOp op, bool root,
                            bool logs)
{
    fire_onnx_chain_t      c;
    uint64_t               set;
    int                    kept;
    bool                   whole;
    Caffe__LayerParameter *l;

    FIRE_TRY(begin(x, &c, &set, &whole));
    if (set == 0) return fire_onnx_chain_end(x, 0, &c);
    if (whole && op == REDUCE(MEAN)) {
        FIRE_TRY(fire_onnx_chain_global(x, &c, true));
        return finish(x, &c, set);
    }
    FIRE_TRY(axes_last(x, &c, set, &kept));
    if (logs) FIRE_TRY(fire_onnx_chain_add(x, &c, "Exp", &l));
    FIRE_TRY(fire_onnx_chain_reduce(x, &c, op, kept, 1));
    if (root) FIRE_TRY(fire_onnx_chain_power(x, &c, 0.5f, 1, 0));
    if (logs) FIRE_TRY(fire_onnx_chain_add(x, &c, "Log", &l));
    return finish(x, &c, set);
}

fire_status_t fire_onnx_take_reduce_mean(fire_onnx_import_t *x)
{
    return reduce(x, REDUCE(MEAN), false, false);
}

fire_status_t fire_onnx_take_reduce_sum(fire_onnx_import_t *x)
{
    return reduce(x, REDUCE(SUM), false, false);
}

fire_status_t fire_onnx_take_reduce_l1(fire_onnx_import_t *x)
{
    return reduce(x, REDUCE(ASUM), false, false);
}

fire_status_t fire_onnx_take_reduce_l2(fire_onnx_import_t *x)
{
    return reduce(x, REDUCE(SUMSQ), true, false);
}

fire_status_t fire_onnx_take_reduce_sum_square(fire_onnx_import_t *x)
{
    return reduce(x, REDUCE(SUMSQ), false, false);
}

fire_status_t fire_onnx_take_reduce_log_sum_exp(fire_onnx_import_t *x)
{
    return reduce(x, REDUCE(SUM), false, true);
}

/* The largest of the axes that go, as one plane of height 1 for each of the others. */
static fire_status_t largest(fire_onnx_import_t *x, bool negative)
{
    fire_onnx_chain_t c;
    uint64_t          set;
    int64_t           first, rest, n;
    int               kept;
    bool              whole;

    FIRE_TRY(begin(x, &c, &set, &whole));
    if (set == 0) return fire_onnx_chain_end(x, 0, &c);
    if (negative) FIRE_TRY(fire_onnx_chain_power(x, &c, 1, -1, 0));
    if (!whole) {
        FIRE_TRY(axes_last(x, &c, set, &kept));
        first = kept > 0 ? c.dim[0] : 1;
        FIRE_TRY(fire_onnx_elements(kept > 0 ? kept - 1 : 0, c.dim + 1, &rest));
        FIRE_TRY(fire_onnx_elements(c.ndim - kept, c.dim + kept, &n));
        FIRE_TRY(fire_onnx_chain_reshape(x, &c, 4, (int64_t[]){first, rest, 1, n}));
    }
    FIRE_TRY(fire_onnx_chain_global(x, &c, false));
    if (negative) FIRE_TRY(fire_onnx_chain_power(x, &c, 1, -1, 0));
    return finish(x, &c, set);
}

fire_status_t fire_onnx_take_reduce_max(fire_onnx_import_t *x)
{
    return largest(x, false);
}

fire_status_t fire_onnx_take_reduce_min(fire_onnx_import_t *x)
{
    return largest(x, true);
}

/* Of equal values the layer takes the last. */
fire_status_t fire_onnx_take_argmax(fire_onnx_import_t *x)
{
    fire_onnx_chain_t       c;
    Caffe__LayerParameter  *l;
    Caffe__ArgMaxParameter *p;
    int                     axis;

    FIRE_TRY(fire_onnx_chain_begin(x, 0, &c));
    FIRE_TRY(fire_onnx_axis(fire_onnx_get_int(x, "axis", 0), c.ndim, &axis));
    if (strcmp(x->node->op_type, "ArgMin") == 0)
        FIRE_TRY(fire_onnx_chain_power(x, &c, 1, -1, 0));
    FIRE_TRY(fire_onnx_chain_add(x, &c, "ArgMax", &l));
    FIRE_ONNX_SETTINGS(l, "argmax_param", &p);
    p->has_axis = true;
    p->axis     = axis;
    c.dim[axis] = 1;
    return finish(x, &c, UINT64_C(1) << axis);
}
