/* threshold.c - y = 1 for x > threshold, 0 otherwise; no gradient */
#include "layers/neuron/formulas.h"

static fire_status_t threshold_setup(fire_layer_t *l)
{
    const Caffe__ThresholdParameter *p =
        FIRE_PARAM(l, threshold_param, CAFFE__THRESHOLD_PARAMETER__INIT);

    FIRE_STATE(l, fire_threshold_t)->threshold = p->threshold;
    return FIRE_OK;
}

static fire_status_t threshold_forward(fire_layer_t *l)
{
    return fire_neuron_forward(l, fire_threshold_y);
}

const fire_kernel_t fire_threshold_ref = {
    .name    = "ref",
    .forward = threshold_forward,
};

extern const fire_kernel_t fire_threshold_cuda; /* threshold.cu */

static const fire_kernel_t *const threshold_kernels[] = {
    FIRE_IF_CUDA(fire_threshold_cuda) &fire_threshold_ref, NULL};

const fire_layer_ops_t fire_layer_threshold = {
    .type        = "Threshold",
    .bottoms     = {1, 1},
    .tops        = {1, 1},
    .flags       = FIRE_LAYER_INPLACE,
    .no_gradient = 1,
    .state_size  = sizeof(fire_threshold_t),
    .setup       = threshold_setup,
    .reshape     = fire_layer_reshape_same,
    .kernels     = threshold_kernels,
};
