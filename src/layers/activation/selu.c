/* selu.c - SeLu (Klambauer et al. 2017): y = lambda x for x > 0, else
 * lambda alpha (exp(x) - 1). */
#include "layers/activation/selu.h"

static fire_status_t selu_setup(fire_layer_t *l)
{
    const Caffe__SeLuParameter *p =
        FIRE_PARAM(l, selu_param, CAFFE__SE_LU_PARAMETER__INIT);
    fire_selu_t *s = FIRE_STATE(l, fire_selu_t);

    /* protobuf-c rounds the defaults of the schema to 6 digits */
    s->lambda = p->has_lambda ? p->lambda : 1.0507009873554805f;
    s->alpha  = p->has_alpha ? p->alpha : 1.6732632423543772f;
    if (!(s->lambda > 0.0f && s->alpha > 0.0f))
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "selu_param: lambda %g and alpha %g must be positive",
                         (double)s->lambda, (double)s->alpha);
    return FIRE_OK;
}

static fire_status_t selu_forward(fire_layer_t *l)
{
    FIRE_TRY(fire_kept_save(&FIRE_STATE(l, fire_selu_t)->kept, l));
    return fire_neuron_forward(l, fire_selu_y);
}

static fire_status_t selu_backward(fire_layer_t *l)
{
    fire_blob_t *x = fire_kept_bottom(&FIRE_STATE(l, fire_selu_t)->kept, l);

    return fire_neuron_backward(l, x, fire_selu_dx);
}

static void selu_teardown(fire_layer_t *l)
{
    fire_kept_fini(&FIRE_STATE(l, fire_selu_t)->kept);
}

const fire_kernel_t fire_selu_ref = {
    .name     = "ref",
    .forward  = selu_forward,
    .backward = selu_backward,
};

extern const fire_kernel_t fire_selu_cuda; /* selu.cu */

static const fire_kernel_t *const selu_kernels[] = {
    FIRE_IF_CUDA(fire_selu_cuda) &fire_selu_ref, NULL};

const fire_layer_ops_t fire_layer_selu = {
    .type       = "SeLu",
    .bottoms    = {1, 1},
    .tops       = {1, 1},
    .flags      = FIRE_LAYER_INPLACE,
    .state_size = sizeof(fire_selu_t),
    .setup      = selu_setup,
    .reshape    = fire_layer_reshape_same,
    .teardown   = selu_teardown,
    .kernels    = selu_kernels,
};
