/* cudnn_batch_norm.c - CuDNNBatchNorm of GENet's and its descendants' Caffe: BN under
 * other names (bn.h), for every place.
 *
 * Forks spell the settings as cudnn_batch_norm_param or as batch_norm_param, where
 * moving_average_fraction is the momentum and use_global_stats freezes. */
#include "layers/norm/bn.h"

static fire_status_t cudnn_batch_norm_setup(fire_layer_t *l)
{
    const Caffe__CuDNNBatchNormParameter *p =
        FIRE_PARAM(l, cudnn_batch_norm_param, CAFFE__CU_DNNBATCH_NORM_PARAMETER__INIT);
    const Caffe__BatchNormParameter *b = l->param->batch_norm_param;
    fire_bn_settings_t settings = {p->scale_filler, p->bias_filler, p->momentum, p->eps,
                                   p->frozen};

    if (l->param->cudnn_batch_norm_param == NULL && b != NULL)
        settings = (fire_bn_settings_t){b->scale_filler, b->bias_filler,
                                        b->moving_average_fraction, b->eps,
                                        b->use_global_stats};
    return fire_bn_setup(l, &settings);
}

const fire_layer_ops_t fire_layer_cudnn_batch_norm = {
    .type       = "CuDNNBatchNorm",
    .bottoms    = {1, 1},
    .tops       = {1, 1},
    .flags      = FIRE_LAYER_INPLACE,
    .state_size = sizeof(fire_batch_norm_t),
    .setup      = cudnn_batch_norm_setup,
    .reshape    = fire_batch_norm_reshape,
    .kernels    = fire_batch_norm_kernels,
};
