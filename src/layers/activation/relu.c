/* relu.c - y = max(x, 0) + negative_slope * min(x, 0) */
#include "layers/kernels.h"
#include "layers/activation/relu.h"

static fire_status_t relu_setup(fire_layer_t *l)
{
    const Caffe__ReLUParameter *p =
        FIRE_PARAM(l, relu_param, CAFFE__RE_LUPARAMETER__INIT);

    FIRE_STATE(l, fire_relu_t)->slope = p->negative_slope;
    return FIRE_OK;
}

/* Only the sign of x is used. y has the same, so in place serves as well, unless the
 * slope turns the sign of negative inputs. */
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

static const fire_kernel_t relu_kernels[] = {
    FIRE_CUDA_KERNEL(relu) /* where it is built in */
    {.name     = "simd",
     .declines = fire_relu_simd_declines,
     .forward  = fire_relu_simd_forward,
     .backward = fire_relu_simd_backward,
     .again    = fire_relu_simd_forward,
     .needs    = fire_needs_top},
    {.name = "ref", .forward = relu_forward, .backward = relu_backward},
    {0},
};

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
