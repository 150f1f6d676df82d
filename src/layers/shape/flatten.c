/* flatten.c - makes one axis of those from `axis` to `end_axis`; nothing is copied */
#include "layers/shape/view.h"

static fire_status_t flatten_reshape(fire_layer_t *l)
{
    const Caffe__FlattenParameter *p =
        FIRE_PARAM(l, flatten_param, CAFFE__FLATTEN_PARAMETER__INIT);
    const fire_blob_t *x = l->bottom[0];
    int64_t            dim[FIRE_MAX_DIMS];
    int                first, last, n = 0;

    FIRE_TRY(fire_blob_axis(x, p->axis, "flatten_param", &first));
    FIRE_TRY(fire_blob_axis(x, p->end_axis, "flatten_param end_axis", &last));
    if (first > last)
        return FIRE_FAIL(FIRE_ERR_INVALID, "axis %d comes behind end_axis %d", p->axis,
                         p->end_axis);
    for (int i = 0; i < first; i++)
        dim[n++] = x->dim[i];
    dim[n++] = fire_blob_count_range(x, first, last + 1);
    for (int i = last + 1; i < x->ndim; i++)
        dim[n++] = x->dim[i];
    return fire_view_reshape(l, n, dim);
}

const fire_layer_ops_t fire_layer_flatten = {
    .type    = "Flatten",
    .bottoms = {1, 1},
    .tops    = {1, 1},
    .reshape = flatten_reshape,
    .kernels = fire_view_kernels,
};
