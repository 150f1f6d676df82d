/* log.c - y = log_base(scale x + shift); base -1 (the default) stands for e */
#include <math.h>

#include "layers/neuron/neuron.h"

typedef struct log_state {
    float       scale, shift;
    float       outer; /* 1 / ln(base) */
    float       slope; /* scale / ln(base) */
    fire_kept_t kept;
} log_t;

static fire_status_t log_setup(fire_layer_t *l)
{
    const Caffe__LogParameter *p = FIRE_PARAM(l, log_param, CAFFE__LOG_PARAMETER__INIT);
    log_t                     *s = l->state;
    float                      ln = p->base == -1.0f ? 1.0f : logf(p->base);

    if (!isfinite(ln) || ln == 0.0f)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "base %g; it must be positive and not 1, or -1 for e",
                         (double)p->base);
    s->scale = p->scale;
    s->shift = p->shift;
    s->outer = 1.0f / ln;
    s->slope = p->scale / ln;
    return FIRE_OK;
}

static float log_y(const void *state, float x)
{
    const log_t *s = state;

    return logf(x * s->scale + s->shift) * s->outer;
}

static float log_dx(const void *state, float x, float y, float dy)
{
    const log_t *s = state;

    (void)y;
    return dy * (1.0f / (x * s->scale + s->shift) * s->slope);
}

static fire_status_t log_forward(fire_layer_t *l)
{
    log_t *s = l->state;

    FIRE_TRY(fire_kept_save(&s->kept, l));
    return fire_neuron_forward(l, log_y);
}

static fire_status_t log_backward(fire_layer_t *l)
{
    log_t *s = l->state;

    return fire_neuron_backward(l, fire_kept_bottom(&s->kept, l), log_dx);
}

static void log_teardown(fire_layer_t *l)
{
    fire_kept_fini(&FIRE_STATE(l, log_t)->kept);
}

static const fire_kernel_t log_kernels[] = {
    {.name = "ref", .forward = log_forward, .backward = log_backward},
    {0},
};

const fire_layer_ops_t fire_layer_log = {
    .type       = "Log",
    .bottoms    = {1, 1},
    .tops       = {1, 1},
    .flags      = FIRE_LAYER_INPLACE,
    .state_size = sizeof(log_t),
    .setup      = log_setup,
    .reshape    = fire_layer_reshape_same,
    .teardown   = log_teardown,
    .kernels    = log_kernels,
};
