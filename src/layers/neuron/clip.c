/* clip.c - y = x, but at least min and at most max */
#include "layers/neuron/formulas.h"

static fire_status_t clip_setup(fire_layer_t *l)
{
    const Caffe__ClipParameter *p = l->param->clip_param;
    fire_clip_t                *s = l->state;

    if (p == NULL)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "clip_param { min: ... max: ... } is missing");
    if (!(p->min <= p->max))
        return FIRE_FAIL(FIRE_ERR_INVALID, "min %g is greater than max %g",
                         (double)p->min, (double)p->max);
    s->min = p->min;
    s->max = p->max;
    return FIRE_OK;
}

static fire_status_t clip_forward(fire_layer_t *l)
{
    fire_clip_t *s = l->state;

    FIRE_TRY(fire_kept_save(&s->kept, l));
    return fire_neuron_forward(l, fire_clip_y);
}

static fire_status_t clip_backward(fire_layer_t *l)
{
    fire_clip_t *s = l->state;

    return fire_neuron_backward(l, fire_kept_bottom(&s->kept, l), fire_clip_dx);
}

static void clip_teardown(fire_layer_t *l)
{
    fire_kept_fini(&FIRE_STATE(l, fire_clip_t)->kept);
}

const fire_kernel_t fire_clip_ref = {
    .name     = "ref",
    .forward  = clip_forward,
    .backward = clip_backward,
};

extern const fire_kernel_t fire_clip_cuda; /* clip.cu */

static const fire_kernel_t *const clip_kernels[] = {
    FIRE_IF_CUDA(fire_clip_cuda) &fire_clip_ref, NULL};

const fire_layer_ops_t fire_layer_clip = {
    .type       = "Clip",
    .bottoms    = {1, 1},
    .tops       = {1, 1},
    .flags      = FIRE_LAYER_INPLACE,
    .state_size = sizeof(fire_clip_t),
    .setup      = clip_setup,
    .reshape    = fire_layer_reshape_same,
    .teardown   = clip_teardown,
    .kernels    = clip_kernels,
};
