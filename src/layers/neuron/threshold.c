/* threshold.c - y = 1 for x > threshold, 0 otherwise; no gradient */
#include "layers/neuron/neuron.h"

typedef struct threshold {
    float threshold;
} threshold_t;

static fire_status_t threshold_setup(fire_layer_t *l)
{
    const Caffe__ThresholdParameter *p =
        FIRE_PARAM(l, threshold_param, CAFFE__THRESHOLD_PARAMETER__INIT);

    FIRE_STATE(l, threshold_t)->threshold = p->threshold;
    return FIRE_OK;
}

static float threshold_y(const void *state, float x)
{
    return x > ((const threshold_t *)state)->threshold ? 1.0f : 0.0f;
}

static fire_status_t threshold_forward(fire_layer_t *l)
{
    return fire_neuron_forward(l, threshold_y);
}

static const fire_kernel_t threshold_kernels[] = {
    {.name = "ref", .forward = threshold_forward},
    {0},
};

const fire_layer_ops_t fire_layer_threshold = {
    .type        = "Threshold",
    .bottoms     = {1, 1},
    .tops        = {1, 1},
    .flags       = FIRE_LAYER_INPLACE,
    .no_gradient = 1,
    .state_size  = sizeof(threshold_t),
    .setup       = threshold_setup,
    .reshape     = fire_layer_reshape_same,
    .kernels     = threshold_kernels,
};
