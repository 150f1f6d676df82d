/* shuffle_channel.c - mixes the groups of ShuffleNet (Zhang et al. 2017): channels, as
 * (group, n), are transposed to (n, group) */
#include "layers/shape/gather.h"

static fire_status_t shuffle_channel_reshape(fire_layer_t *l)
{
    const Caffe__ShuffleChannelParameter *p =
        FIRE_PARAM(l, shuffle_channel_param, CAFFE__SHUFFLE_CHANNEL_PARAMETER__INIT);
    fire_gather_t     *s        = l->state;
    const fire_blob_t *x        = l->bottom[0];
    int64_t            channels = fire_blob_dim_or_1(x, 1), group = p->group;

    if (x->ndim < 2)
        return FIRE_FAIL(FIRE_ERR_INVALID, "the bottom has no channel axis (axis 1)");
    if (group < 1 || channels % group != 0)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "%lld channels do not divide into %lld groups",
                         (long long)channels, (long long)group);
    FIRE_TRY(fire_gather_reshape(s, x->dim[0], channels,
                                 fire_blob_count_range(x, 2, x->ndim)));
    for (int64_t j = 0; j < channels; j++)
        s->from[j] = j % group * (channels / group) + j / group;
    return fire_layer_reshape_same(l);
}

const fire_layer_ops_t fire_layer_shuffle_channel = {
    .type       = "ShuffleChannel",
    .bottoms    = {1, 1},
    .tops       = {1, 1},
    .state_size = sizeof(fire_gather_t),
    .reshape    = shuffle_channel_reshape,
    .teardown   = fire_gather_teardown,
    .kernels    = fire_gather_kernels,
};
