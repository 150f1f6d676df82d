/* elu.c - exponential linear unit (Clevert et al. 2015): y = x for x > 0,
 * alpha (exp(x) - 1) otherwise */
#include "layers/neuron/formulas.h"

static fire_status_t elu_setup(fire_layer_t *l)
{
    const Caffe__ELUParameter *p = FIRE_PARAM(l, elu_param, CAFFE__ELUPARAMETER__INIT);

    FIRE_STATE(l, fire_elu_t)->alpha = p->alpha;
    return FIRE_OK;
}

/* Backward reads x only for its sign, and y has the same sign unless alpha < 0: only
 * then must a copy of x be kept when working in place. */
static fire_status_t elu_forward(fire_layer_t *l)
{
    fire_elu_t *s = l->state;

    if (s->alpha < 0) FIRE_TRY(fire_kept_save(&s->kept, l));
    return fire_neuron_forward(l, fire_elu_y);
}

static fire_status_t elu_backward(fire_layer_t *l)
{
    fire_elu_t *s = l->state;

    return fire_neuron_backward(l, fire_kept_bottom(&s->kept, l), fire_elu_dx);
}

static void elu_teardown(fire_layer_t *l)
{
    fire_kept_fini(&FIRE_STATE(l, fire_elu_t)->kept);
}

const fire_kernel_t fire_elu_ref = {
    .name     = "ref",
    .forward  = elu_forward,
    .backward = elu_backward,
};

extern const fire_kernel_t fire_elu_cuda; /* elu.cu */

static const fire_kernel_t *const elu_kernels[] = {
    FIRE_IF_CUDA(fire_elu_cuda) &fire_elu_ref, NULL};

const fire_layer_ops_t fire_layer_elu = {
    .type       = "ELU",
    .bottoms    = {1, 1},
    .tops       = {1, 1},
    .flags      = FIRE_LAYER_INPLACE,
    .state_size = sizeof(fire_elu_t),
    .setup      = elu_setup,
    .reshape    = fire_layer_reshape_same,
    .teardown   = elu_teardown,
    .kernels    = elu_kernels,
};
