/* spatial_dropout.c - Dropout of whole channels (Tompson et al. 2014): a pixel is so
 * much like its neighbours that dropping it alone has little effect. Forks of Caffe put
 * its settings into dropout_param or into spatial_dropout_param; both are read. */
#include "layers/neuron/dropout.h"

static fire_status_t spatial_dropout_setup(fire_layer_t *l)
{
    const Caffe__DropoutParameter *p =
        FIRE_PARAM(l, dropout_param, CAFFE__DROPOUT_PARAMETER__INIT);
    const Caffe__SpatialDropoutParameter *own = l->param->spatial_dropout_param;

    return fire_dropout_init(l, own != NULL ? own->dropout_ratio : p->dropout_ratio, p);
}

static fire_status_t spatial_dropout_reshape(fire_layer_t *l)
{
    const fire_blob_t *x = l->bottom[0];

    if (x->ndim < 2)
        return FIRE_FAIL(FIRE_ERR_INVALID, "the bottom has no channel axis (axis 1)");
    return fire_dropout_reshape(l, fire_blob_count_range(x, 2, x->ndim));
}

const fire_layer_ops_t fire_layer_spatial_dropout = {
    .type       = "SpatialDropout",
    .bottoms    = {1, 1},
    .tops       = {1, 1},
    .flags      = FIRE_LAYER_INPLACE,
    .state_size = sizeof(fire_dropout_t),
    .setup      = spatial_dropout_setup,
    .reshape    = spatial_dropout_reshape,
    .teardown   = fire_dropout_teardown,
    .kernels    = fire_dropout_kernels,
};
