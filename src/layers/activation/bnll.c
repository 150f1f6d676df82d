/* bnll.c - y = log(1 + exp(x)), without overflow */
#include "layers/kernels.h"
#include "layers/neuron/formulas.h"

static fire_status_t bnll_forward(fire_layer_t *l)
{
    fire_bnll_t *s = l->state;

    FIRE_TRY(fire_kept_save(&s->kept, l));
    return fire_neuron_forward(l, fire_bnll_y);
}

static fire_status_t bnll_backward(fire_layer_t *l)
{
    fire_bnll_t *s = l->state;

    return fire_neuron_backward(l, fire_kept_bottom(&s->kept, l), fire_bnll_dx);
}

static void bnll_teardown(fire_layer_t *l)
{
    fire_kept_fini(&FIRE_STATE(l, fire_bnll_t)->kept);
}

static const fire_kernel_t bnll_kernels[] = {
    FIRE_CUDA_KERNEL(bnll) /* where it is built in */
    {.name = "ref", .forward = bnll_forward, .backward = bnll_backward},
    {0},
};

const fire_layer_ops_t fire_layer_bnll = {
    .type       = "BNLL",
    .bottoms    = {1, 1},
    .tops       = {1, 1},
    .flags      = FIRE_LAYER_INPLACE,
    .state_size = sizeof(fire_bnll_t),
    .reshape    = fire_layer_reshape_same,
    .teardown   = bnll_teardown,
    .kernels    = bnll_kernels,
};
