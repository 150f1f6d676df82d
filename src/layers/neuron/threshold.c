/* threshold.c - y = 1 for x > threshold, 0 otherwise; no gradient */
#include "layers/kernels.h"
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

static const fire_kernel_t threshold_kernels[] = {
    FIRE_CUDA_FORWARD(threshold) /* where it is built in */
    {.name = "ref", .forward = threshold_forward},
    {0},
};

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
