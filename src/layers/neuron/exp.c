/* exp.c - y = base^(scale x + shift); base -1 (the default) stands for e */
#include <math.h>

#include "layers/neuron/formulas.h"

static fire_status_t exp_setup(fire_layer_t *l)
{
    const Caffe__ExpParameter *p = FIRE_PARAM(l, exp_param, CAFFE__EXP_PARAMETER__INIT);
    fire_exp_t                *s = l->state;
    bool                       natural = p->base == -1.0f;

    if (!natural && !(p->base > 0.0f && isfinite(p->base)))
        return FIRE_FAIL(FIRE_ERR_INVALID, "base %g; it must be positive, or -1 for e",
                         (double)p->base);
    s->inner = (natural ? 1.0f : logf(p->base)) * p->scale;
    s->outer = p->shift == 0.0f ? 1.0f
               : natural        ? expf(p->shift)
                                : powf(p->base, p->shift);
    return FIRE_OK;
}

static fire_status_t exp_forward(fire_layer_t *l)
{
    return fire_neuron_forward(l, fire_exp_y);
}

static fire_status_t exp_backward(fire_layer_t *l)
{
    return fire_neuron_backward(l, l->bottom[0], fire_exp_dx);
}

const fire_kernel_t fire_exp_ref = {
    .name     = "ref",
    .forward  = exp_forward,
    .backward = exp_backward,
};

extern const fire_kernel_t fire_exp_cuda; /* exp.cu */

static const fire_kernel_t *const exp_kernels[] = {
    FIRE_IF_CUDA(fire_exp_cuda) &fire_exp_ref, NULL};

const fire_layer_ops_t fire_layer_exp = {
    .type       = "Exp",
    .bottoms    = {1, 1},
    .tops       = {1, 1},
    .flags      = FIRE_LAYER_INPLACE,
    .state_size = sizeof(fire_exp_t),
    .setup      = exp_setup,
    .reshape    = fire_layer_reshape_same,
    .kernels    = exp_kernels,
};
