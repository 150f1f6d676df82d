/* swish.c - y = x sigmoid(beta x); with beta 1 also known as SiLU */
#include "layers/neuron/formulas.h"

static fire_status_t swish_setup(fire_layer_t *l)
{
    const Caffe__SwishParameter *p =
        FIRE_PARAM(l, swish_param, CAFFE__SWISH_PARAMETER__INIT);

    FIRE_STATE(l, fire_swish_t)->beta = p->beta;
    return FIRE_OK;
}

static fire_status_t swish_forward(fire_layer_t *l)
{
    fire_swish_t *s = l->state;

    FIRE_TRY(fire_kept_save(&s->kept, l));
    return fire_neuron_forward(l, fire_swish_y);
}

static fire_status_t swish_backward(fire_layer_t *l)
{
    fire_swish_t *s = l->state;

    return fire_neuron_backward(l, fire_kept_bottom(&s->kept, l), fire_swish_dx);
}

static void swish_teardown(fire_layer_t *l)
{
    fire_kept_fini(&FIRE_STATE(l, fire_swish_t)->kept);
}

const fire_kernel_t fire_swish_ref = {
    .name     = "ref",
    .forward  = swish_forward,
    .backward = swish_backward,
};

extern const fire_kernel_t fire_swish_cuda; /* swish.cu */

static const fire_kernel_t *const swish_kernels[] = {
    FIRE_IF_CUDA(fire_swish_cuda) &fire_swish_ref, NULL};

const fire_layer_ops_t fire_layer_swish = {
    .type       = "Swish",
    .bottoms    = {1, 1},
    .tops       = {1, 1},
    .flags      = FIRE_LAYER_INPLACE,
    .state_size = sizeof(fire_swish_t),
    .setup      = swish_setup,
    .reshape    = fire_layer_reshape_same,
    .teardown   = swish_teardown,
    .kernels    = swish_kernels,
};
