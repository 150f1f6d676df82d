/* power.c - y = (scale x + shift)^power */
#include "layers/neuron/formulas.h"

static fire_status_t power_setup(fire_layer_t *l)
{
    const Caffe__PowerParameter *p =
        FIRE_PARAM(l, power_param, CAFFE__POWER_PARAMETER__INIT);
    fire_power_t *s = l->state;

    s->power = p->power;
    s->scale = p->scale;
    s->shift = p->shift;
    s->slope = p->power * p->scale;
    return FIRE_OK;
}

static fire_status_t power_forward(fire_layer_t *l)
{
    fire_power_t *s = l->state;

    if (s->power != 1.0f) FIRE_TRY(fire_kept_save(&s->kept, l));
    return fire_neuron_forward(l, fire_power_y);
}

static fire_status_t power_backward(fire_layer_t *l)
{
    fire_power_t *s = l->state;

    return fire_neuron_backward(l, fire_kept_bottom(&s->kept, l), fire_power_dx);
}

static void power_teardown(fire_layer_t *l)
{
    fire_kept_fini(&FIRE_STATE(l, fire_power_t)->kept);
}

const fire_kernel_t fire_power_ref = {
    .name     = "ref",
    .forward  = power_forward,
    .backward = power_backward,
};

extern const fire_kernel_t fire_power_cuda; /* power.cu */

static const fire_kernel_t *const power_kernels[] = {
    FIRE_IF_CUDA(fire_power_cuda) &fire_power_ref, NULL};

const fire_layer_ops_t fire_layer_power = {
    .type       = "Power",
    .bottoms    = {1, 1},
    .tops       = {1, 1},
    .flags      = FIRE_LAYER_INPLACE,
    .state_size = sizeof(fire_power_t),
    .setup      = power_setup,
    .reshape    = fire_layer_reshape_same,
    .teardown   = power_teardown,
    .kernels    = power_kernels,
};
