/* relu.c - rectified linear unit: y = max(x, 0) + negative_slope * min(x, 0) */
#include "layers/activation/relu.h"

static fire_status_t relu_setup(fire_layer_t *l)
{
    const Caffe__ReLUParameter *p =
        FIRE_PARAM(l, relu_param, CAFFE__RE_LUPARAMETER__INIT);

    FIRE_STATE(l, fire_relu_t)->slope = p->negative_slope;
    return FIRE_OK;
}

/* Backward reads x only for its sign, and y has the same sign unless the slope is
 * negative: only then must a copy of x be kept when working in place. */
static fire_status_t relu_forward(fire_layer_t *l)
{
    fire_relu_t *s = l->state;

    if (s->slope < 0) FIRE_TRY(fire_kept_save(&s->kept, l));
    return fire_neuron_forward(l, fire_relu_y);
}

static fire_status_t relu_backward(fire_layer_t *l)
{
    fire_relu_t *s = l->state;

    return fire_neuron_backward(l, fire_kept_bottom(&s->kept, l), fire_relu_dx);
}

static void relu_teardown(fire_layer_t *l)
{
    fire_kept_fini(&FIRE_STATE(l, fire_relu_t)->kept);
}

const fire_kernel_t fire_relu_ref = {
    .name     = "ref",
    .forward  = relu_forward,
    .backward = relu_backward,
};

extern const fire_kernel_t fire_relu_cuda; /* relu.cu */
extern const fire_kernel_t fire_relu_simd; /* relu_simd.c */

static const fire_kernel_t *const relu_kernels[] = {
    FIRE_IF_CUDA(fire_relu_cuda) &fire_relu_simd, &fire_relu_ref, NULL};

const fire_layer_ops_t fire_layer_relu = {
    .type       = "ReLU",
    .bottoms    = {1, 1},
    .tops       = {1, 1},
    .flags      = FIRE_LAYER_INPLACE,
    .state_size = sizeof(fire_relu_t),
    .setup      = relu_setup,
    .reshape    = fire_layer_reshape_same,
    .teardown   = relu_teardown,
    .kernels    = relu_kernels,
};
