/* permute.c - puts the axes in another order, from SSD: `order: 0 order: 2 order: 3
 * order: 1` turns NCHW into NHWC. Axes that are not named follow in their old order. */
#include "layers/shape/gather.h"

/* order[i] is the bottom's axis that becomes axis i. */
static fire_status_t find_order(const fire_layer_t *l, int order[FIRE_MAX_DIMS])
{
    const Caffe__PermuteParameter *p =
        FIRE_PARAM(l, permute_param, CAFFE__PERMUTE_PARAMETER__INIT);
    int    ndim = l->bottom[0]->ndim, n = 0;
    size_t named               = p->n_order > 0 ? p->n_order : p->n_dim;
    bool   used[FIRE_MAX_DIMS] = {false};

    for (size_t i = 0; i < named; i++) {
        uint32_t axis = p->n_order > 0 ? p->order[i] : p->dim[i];

        if (axis >= (uint32_t)ndim)
            return FIRE_FAIL(FIRE_ERR_INVALID, "order: %u, but the bottom has %d axes",
                             axis, ndim);
        if (used[axis])
            return FIRE_FAIL(FIRE_ERR_INVALID, "order: %u is given twice", axis);
        used[axis] = true;
        order[n++] = (int)axis;
    }
    for (int axis = 0; axis < ndim; axis++)
        if (!used[axis]) order[n++] = axis;
    return FIRE_OK;
}

/* Write the bottom's index of every block of the top, in the top's order. */
static void fill(fire_gather_t *s, const fire_blob_t *x, const int *order, int first,
                 int end)
{
    int64_t step[FIRE_MAX_DIMS], at[FIRE_MAX_DIMS] = {0}, from = 0;

    for (int i = first; i < end; i++)
        step[i] = fire_blob_count_range(x, order[i] + 1, end);
    for (int64_t j = 0; j < s->n; j++) {
        s->from[j] = from;
        for (int i = end - 1; i >= first; i--) {
            from += step[i];
            if (++at[i] < x->dim[order[i]]) break;
            from -= step[i] * at[i];
            at[i] = 0;
        }
    }
}

static fire_status_t permute_reshape(fire_layer_t *l)
{
    fire_gather_t     *s = l->state;
    const fire_blob_t *x = l->bottom[0];
    int64_t            dim[FIRE_MAX_DIMS];
    int                order[FIRE_MAX_DIMS], first = 0, end = x->ndim;

    FIRE_TRY(find_order(l, order));
    for (int i = 0; i < x->ndim; i++)
        dim[i] = x->dim[order[i]];
    while (first < end && order[first] == first)
        first++; /* leading axes that stay in place: items */
    while (end > first && order[end - 1] == end - 1)
        end--; /* trailing axes that stay in place: blocks */
    FIRE_TRY(fire_gather_reshape(s, fire_blob_count_range(x, 0, first),
                                 fire_blob_count_range(x, first, end),
                                 fire_blob_count_range(x, end, x->ndim)));
    fill(s, x, order, first, end);
    return fire_blob_reshape(l->top[0], x->ndim, dim);
}

const fire_layer_ops_t fire_layer_permute = {
    .type       = "Permute",
    .bottoms    = {1, 1},
    .tops       = {1, 1},
    .state_size = sizeof(fire_gather_t),
    .reshape    = permute_reshape,
    .teardown   = fire_gather_teardown,
    .kernels    = fire_gather_kernels,
};
