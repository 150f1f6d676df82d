/* bnll.c - y = log(1 + exp(x)), without overflow */
#include <math.h>

#include "layers/neuron/neuron.h"

enum { LARGE = 50 }; /* exp of it and more is 1 to the gradient */

typedef struct bnll {
    fire_kept_t kept;
} bnll_t;

static float bnll_y(const void *state, float x)
{
    (void)state;
    return (float)(x > 0 ? x + log(1.0 + expf(-x)) : log(1.0 + expf(x)));
}

static float bnll_dx(const void *state, float x, float y, float dy)
{
    float e = expf(fire_min(x, LARGE));

    (void)state, (void)y;
    return (float)(dy * e / (e + 1.0));
}

static fire_status_t bnll_forward(fire_layer_t *l)
{
    bnll_t *s = l->state;

    FIRE_TRY(fire_kept_save(&s->kept, l));
    return fire_neuron_forward(l, bnll_y);
}

static fire_status_t bnll_backward(fire_layer_t *l)
{
    bnll_t *s = l->state;

    return fire_neuron_backward(l, fire_kept_bottom(&s->kept, l), bnll_dx);
}

static void bnll_teardown(fire_layer_t *l)
{
    fire_kept_fini(&FIRE_STATE(l, bnll_t)->kept);
}

static const fire_kernel_t bnll_kernels[] = {
    {.name = "ref", .forward = bnll_forward, .backward = bnll_backward},
    {0},
};

const fire_layer_ops_t fire_layer_bnll = {
    .type       = "BNLL",
    .bottoms    = {1, 1},
    .tops       = {1, 1},
    .flags      = FIRE_LAYER_INPLACE,
    .state_size = sizeof(bnll_t),
    .reshape    = fire_layer_reshape_same,
    .teardown   = bnll_teardown,
    .kernels    = bnll_kernels,
};
