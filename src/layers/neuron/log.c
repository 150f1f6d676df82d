/* log.c - y = log_base(scale x + shift); base -1 (the default) stands for e */
#include <math.h>

#include "layers/neuron/formulas.h"

static fire_status_t log_setup(fire_layer_t *l)
{
    const Caffe__LogParameter *p = FIRE_PARAM(l, log_param, CAFFE__LOG_PARAMETER__INIT);
    fire_log_t                *s = l->state;
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

static fire_status_t log_forward(fire_layer_t *l)
{
    fire_log_t *s = l->state;

    FIRE_TRY(fire_kept_save(&s->kept, l));
    return fire_neuron_forward(l, fire_log_y);
}

static fire_status_t log_backward(fire_layer_t *l)
{
    fire_log_t *s = l->state;

    return fire_neuron_backward(l, fire_kept_bottom(&s->kept, l), fire_log_dx);
}

static void log_teardown(fire_layer_t *l)
{
    fire_kept_fini(&FIRE_STATE(l, fire_log_t)->kept);
}

const fire_kernel_t fire_log_ref = {
    .name     = "ref",
    .forward  = log_forward,
    .backward = log_backward,
};

extern const fire_kernel_t fire_log_cuda; /* log.cu */

static const fire_kernel_t *const log_kernels[] = {
    FIRE_IF_CUDA(fire_log_cuda) &fire_log_ref, NULL};

const fire_layer_ops_t fire_layer_log = {
    .type       = "Log",
    .bottoms    = {1, 1},
    .tops       = {1, 1},
    .flags      = FIRE_LAYER_INPLACE,
    .state_size = sizeof(fire_log_t),
    .setup      = log_setup,
    .reshape    = fire_layer_reshape_same,
    .teardown   = log_teardown,
    .kernels    = log_kernels,
};
