/* reverse.c - Reverse: puts the elements of an axis in the opposite order, so that an
 * LSTM reads a sequence backwards. */
#include "layers/shape/gather.h"

static fire_status_t reverse_reshape(fire_layer_t *l)
{
    const Caffe__ReverseParameter *p =
        FIRE_PARAM(l, reverse_param, CAFFE__REVERSE_PARAMETER__INIT);
    fire_gather_t     *s = l->state;
    const fire_blob_t *x = l->bottom[0];
    int                axis;

    FIRE_TRY(fire_blob_axis(x, p->axis, "reverse_param", &axis));
    FIRE_TRY(fire_gather_reshape(s, fire_blob_count_range(x, 0, axis), x->dim[axis],
                                 fire_blob_count_range(x, axis + 1, x->ndim)));
    for (int64_t j = 0; j < s->n; j++)
        s->from[j] = s->n - 1 - j;
    return fire_layer_reshape_same(l);
}

const fire_layer_ops_t fire_layer_reverse = {
    .type       = "Reverse",
    .bottoms    = {1, 1},
    .tops       = {1, 1},
    .state_size = sizeof(fire_gather_t),
    .reshape    = reverse_reshape,
    .teardown   = fire_gather_teardown,
    .kernels    = fire_gather_kernels,
};
