/* bias.c - Bias: y = x + b, repeated along the axes that b does not have.
 *
 *     bottom 0, top: any shape
 *     b: num_axes axes of it from `axis` on, blob 0 or bottom 1 */
#include "layers/norm/affine.h"

static fire_status_t bias_setup(fire_layer_t *l)
{
    static const Caffe__BiasParameter defaults = CAFFE__BIAS_PARAMETER__INIT;
    const Caffe__BiasParameter       *p        = l->param->bias_param;

    if (p == NULL) p = &defaults;
    FIRE_STATE(l, fire_bias_t)->axis = p->axis;
    return l->nbottom > 1 ? FIRE_OK
                          : fire_affine_add_blob(l, p->axis, p->num_axes, p->filler);
}

static fire_blob_t *operand(const fire_layer_t *l)
{
    return l->nbottom > 1 ? l->bottom[1] : l->blob[0];
}

static fire_status_t bias_reshape(fire_layer_t *l)
{
    fire_bias_t *s = FIRE_STATE(l, fire_bias_t);

    FIRE_TRY(fire_affine_match(l->bottom[0], operand(l), s->axis, &s->view));
    return fire_layer_reshape_same(l);
}

static fire_status_t bias_prepare(fire_layer_t *l)
{
    fire_scratch_t *ones = l->kernel_state;

    if (ones == NULL) FIRE_TRY(FIRE_NEW(&ones, 1));
    l->kernel_state = ones;
    return fire_scratch_ones(ones, FIRE_STATE(l, fire_bias_t)->view.inner);
}

static void bias_release(fire_layer_t *l)
{
    if (l->kernel_state != NULL) fire_scratch_free(l->kernel_state);
    fire_free(l->kernel_state);
    l->kernel_state = NULL;
}

static fire_status_t bias_forward(fire_layer_t *l)
{
    const float *x, *b;
    float       *y;

    FIRE_IN(l, l->bottom[0], FIRE_DATA, &x);
    FIRE_IN(l, operand(l), FIRE_DATA, &b);
    FIRE_OUT(l, l->top[0], FIRE_DATA, &y);
    fire_affine_shift(&FIRE_STATE(l, fire_bias_t)->view, x, b, y);
    return FIRE_OK;
}

static fire_status_t bias_backward(fire_layer_t *l)
{
    const fire_bias_t    *s     = FIRE_STATE(l, fire_bias_t);
    const fire_scratch_t *ones  = l->kernel_state;
    bool                  param = l->nbottom == 1;
    const float          *dy;
    float                *dx, *db;

    FIRE_IN(l, l->top[0], FIRE_DIFF, &dy);
    if (l->propagate_down[0]) {
        FIRE_OUT(l, l->bottom[0], FIRE_DIFF, &dx);
        fire_copy(fire_blob_count(l->top[0]), dy, dx);
    }
    if (param ? !l->param_gradient[0] : !l->propagate_down[1]) return FIRE_OK;
    FIRE_INOUT(l, operand(l), FIRE_DIFF, &db);
    fire_affine_shift_back(&s->view, ones->x, dy, param, db);
    return FIRE_OK;
}

const fire_kernel_t fire_bias_ref = {
    .name     = "ref",
    .prepare  = bias_prepare,
    .forward  = bias_forward,
    .backward = bias_backward,
    .release  = bias_release,
};

extern const fire_kernel_t fire_bias_cuda; /* norm_cuda.c */

static const fire_kernel_t *const bias_kernels[] = {
    FIRE_IF_CUDA(fire_bias_cuda) &fire_bias_ref, NULL};

const fire_layer_ops_t fire_layer_bias = {
    .type       = "Bias",
    .bottoms    = {1, 2},
    .tops       = {1, 1},
    .flags      = FIRE_LAYER_INPLACE,
    .state_size = sizeof(fire_bias_t),
    .setup      = bias_setup,
    .reshape    = bias_reshape,
    .kernels    = bias_kernels,
};
