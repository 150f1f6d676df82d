/* parameter.c - a learned array as a top, so that other layers can have it as a bottom.
 * The top shares the parameter's data. */
#include "layers/layer.h"

static fire_status_t parameter_setup(fire_layer_t *l)
{
    const Caffe__ParameterParameter *p = l->param->parameter_param;

    if (p == NULL || p->shape == NULL)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "parameter_param { shape { dim: ... } } is missing");
    return fire_layer_add_blob(l, (int)p->shape->n_dim, p->shape->dim, p->blob_filler);
}

static fire_status_t parameter_reshape(fire_layer_t *l)
{
    FIRE_TRY(fire_blob_reshape_like(l->top[0], l->blob[0]));
    fire_blob_share(l->top[0], l->blob[0], FIRE_DATA);
    return FIRE_OK;
}

/* Share anew: the parameter's memory may have been replaced since reshape, when nets
 * share their weights. */
static fire_status_t parameter_forward(fire_layer_t *l)
{
    fire_blob_share(l->top[0], l->blob[0], FIRE_DATA);
    return FIRE_OK;
}

/* The diff is not shared: that of a top is overwritten in each pass, that of a
 * parameter adds up over passes. */
static fire_status_t parameter_backward(fire_layer_t *l)
{
    const float *dy;
    float       *dw;

    if (!l->param_gradient[0]) return FIRE_OK;
    FIRE_IN(l, l->top[0], FIRE_DIFF, &dy);
    FIRE_INOUT(l, l->blob[0], FIRE_DIFF, &dw);
    return fire_device_find(l->kernel->where)
        ->add_scaled(dw, 1.0f, dy, fire_blob_count(l->blob[0]));
}

const fire_kernel_t fire_parameter_cuda = {
    .name     = "cuda",
    .where    = FIRE_GPU,
    .forward  = parameter_forward,
    .backward = parameter_backward,
};

const fire_kernel_t fire_parameter_ref = {
    .name     = "ref",
    .forward  = parameter_forward,
    .backward = parameter_backward,
};

static const fire_kernel_t *const parameter_kernels[] = {
    FIRE_IF_CUDA(fire_parameter_cuda) &fire_parameter_ref, NULL};

const fire_layer_ops_t fire_layer_parameter = {
    .type    = "Parameter",
    .bottoms = {0, 0},
    .tops    = {1, 1},
    .setup   = parameter_setup,
    .reshape = parameter_reshape,
    .kernels = parameter_kernels,
};
