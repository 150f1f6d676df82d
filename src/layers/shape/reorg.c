/* reorg.c - space to depth, the passthrough of YOLO v2: (C, H, W) to (C s^2, H/s, W/s),
 * or back with `reverse`.
 *
 * Elements move as in Darknet. Its formula takes the bottom's C, H and W for those of
 * the side with fewer channels, in both directions; trained models depend on that. */
#include "layers/shape/gather.h"

/* Place, in C/s^2 x Hs x Ws, of element i of C x H x W. */
static int64_t spread(const int64_t *dim, int64_t s, int64_t i)
{
    int64_t x = i % dim[3], y = i / dim[3] % dim[2], c = i / dim[3] / dim[2];
    int64_t narrow = dim[1] / (s * s), offset = c / narrow;

    return ((c % narrow) * dim[2] * s + y * s + offset / s) * dim[3] * s + x * s +
           offset % s;
}

static fire_status_t check(const fire_blob_t *x, int64_t s, bool reverse)
{
    char shape[FIRE_SHAPE_TEXT];

    if (s < 1 || x->ndim != 4 || x->dim[1] % (s * s) != 0 || x->dim[1] == 0 ||
        (!reverse && (x->dim[2] % s != 0 || x->dim[3] % s != 0)))
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "stride %lld does not fit shape %s: channels must divide by "
                         "its square, height and width by it",
                         (long long)s, fire_blob_shape_string(x, shape, sizeof(shape)));
    return FIRE_OK;
}

static fire_status_t reorg_reshape(fire_layer_t *l)
{
    const Caffe__ReorgParameter *p =
        FIRE_PARAM(l, reorg_param, CAFFE__REORG_PARAMETER__INIT);
    fire_gather_t     *g = l->state;
    const fire_blob_t *x = l->bottom[0];
    int64_t            s = p->stride, n;

    FIRE_TRY(check(x, s, p->reverse));
    n = fire_blob_count_range(x, 1, 4);
    FIRE_TRY(fire_gather_reshape(g, x->dim[0], n, 1));
    for (int64_t i = 0; i < n; i++) {
        if (p->reverse)
            g->from[spread(x->dim, s, i)] = i;
        else
            g->from[i] = spread(x->dim, s, i);
    }
    if (p->reverse)
        return fire_blob_reshape(
            l->top[0], 4,
            (int64_t[]){x->dim[0], x->dim[1] / (s * s), x->dim[2] * s, x->dim[3] * s});
    return fire_blob_reshape(
        l->top[0], 4,
        (int64_t[]){x->dim[0], x->dim[1] * s * s, x->dim[2] / s, x->dim[3] / s});
}

const fire_layer_ops_t fire_layer_reorg = {
    .type       = "Reorg",
    .bottoms    = {1, 1},
    .tops       = {1, 1},
    .state_size = sizeof(fire_gather_t),
    .reshape    = reorg_reshape,
    .teardown   = fire_gather_teardown,
    .kernels    = fire_gather_kernels,
};
