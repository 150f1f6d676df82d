/* power.c - y = (scale x + shift)^power */
#include <math.h>

#include "layers/neuron/neuron.h"

typedef struct power {
    float       power, scale, shift;
    float       slope; /* power * scale; 0: y is constant */
    fire_kept_t kept;
} power_t;

static fire_status_t power_setup(fire_layer_t *l)
{
    const Caffe__PowerParameter *p =
        FIRE_PARAM(l, power_param, CAFFE__POWER_PARAMETER__INIT);
    power_t *s = l->state;

    s->power = p->power;
    s->scale = p->scale;
    s->shift = p->shift;
    s->slope = p->power * p->scale;
    return FIRE_OK;
}

static float power_y(const void *state, float x)
{
    const power_t *s    = state;
    float          base = s->slope == 0.0f ? s->shift : x * s->scale + s->shift;

    if (s->power == 1.0f) return base;
    return s->power == 0.0f ? 1.0f : powf(base, s->power);
}

/* dy/dx = slope * base^(power - 1), had from y where that saves the pow. */
static float power_slope(const power_t *s, float x, float y)
{
    float base = x * s->scale + s->shift;

    if (s->slope == 0.0f || s->power == 1.0f) return s->slope;
    if (s->power == 2.0f) return x * (s->slope * s->scale) + s->slope * s->shift;
    if (base == 0.0f) return powf(base, s->power - 1.0f) * s->slope;
    return s->shift == 0.0f ? y / x * s->power : y / base * s->slope;
}

static float power_dx(const void *state, float x, float y, float dy)
{
    float slope = power_slope(state, x, y);

    return slope == 0.0f ? 0.0f : dy * slope; /* not -0 */
}

static fire_status_t power_forward(fire_layer_t *l)
{
    power_t *s = l->state;

    if (s->power != 1.0f) FIRE_TRY(fire_kept_save(&s->kept, l));
    return fire_neuron_forward(l, power_y);
}

static fire_status_t power_backward(fire_layer_t *l)
{
    power_t *s = l->state;

    return fire_neuron_backward(l, fire_kept_bottom(&s->kept, l), power_dx);
}

static void power_teardown(fire_layer_t *l)
{
    fire_kept_fini(&FIRE_STATE(l, power_t)->kept);
}

static const fire_kernel_t power_kernels[] = {
    {.name = "ref", .forward = power_forward, .backward = power_backward},
    {0},
};

const fire_layer_ops_t fire_layer_power = {
    .type       = "Power",
    .bottoms    = {1, 1},
    .tops       = {1, 1},
    .flags      = FIRE_LAYER_INPLACE,
    .state_size = sizeof(power_t),
    .setup      = power_setup,
    .reshape    = fire_layer_reshape_same,
    .teardown   = power_teardown,
    .kernels    = power_kernels,
};
