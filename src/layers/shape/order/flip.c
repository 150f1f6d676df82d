/* flip.c - Flip, of NormFace: mirrors images left to right, top to bottom, or both. */
#include "layers/shape/gather.h"

static fire_status_t flip_reshape(fire_layer_t *l)
{
    const Caffe__FlipParameter *p =
        FIRE_PARAM(l, flip_param, CAFFE__FLIP_PARAMETER__INIT);
    fire_gather_t     *s = l->state;
    const fire_blob_t *x = l->bottom[0];
    int64_t            height, width;

    if (x->ndim != 4)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "the bottom must have 4 axes (num, channels, height, width)");
    height = x->dim[2];
    width  = x->dim[3];
    FIRE_TRY(fire_gather_reshape(s, x->dim[0] * x->dim[1], height * width, 1));
    for (int64_t j = 0; j < s->n; j++) {
        int64_t h = j / width, w = j % width;

        s->from[j] = (p->flip_height ? height - 1 - h : h) * width +
                     (p->flip_width ? width - 1 - w : w);
    }
    return fire_layer_reshape_same(l);
}

const fire_layer_ops_t fire_layer_flip = {
    .type       = "Flip",
    .bottoms    = {1, 1},
    .tops       = {1, 1},
    .state_size = sizeof(fire_gather_t),
    .reshape    = flip_reshape,
    .teardown   = fire_gather_teardown,
    .kernels    = fire_gather_kernels,
};
