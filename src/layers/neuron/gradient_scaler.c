/* gradient_scaler.c - GradientScaler (Ganin and Lempitsky 2015): forward nothing,
 * backward the gradient times a negative factor, so that what is below learns the
 * opposite of what is above. The factor grows from lower_bound to upper_bound over
 * max_iter iterations (GradientScalerParameter). Runs on the CPU. */
#include <math.h>

#include "device/cpu/blas.h"
#include "layers/layer.h"

static fire_status_t gradient_scaler_setup(fire_layer_t *l)
{
    const Caffe__GradientScalerParameter *p =
        FIRE_PARAM(l, gradient_scaler_param, CAFFE__GRADIENT_SCALER_PARAMETER__INIT);

    if (p->lower_bound > p->upper_bound || p->alpha < 0 || !(p->max_iter >= 1))
        return FIRE_FAIL(
            FIRE_ERR_INVALID,
            "gradient_scaler_param: lower_bound %g must not be above "
            "upper_bound %g, alpha %g not negative, max_iter %g at least 1",
            (double)p->lower_bound, (double)p->upper_bound, (double)p->alpha,
            (double)p->max_iter);
    return FIRE_OK;
}

/* The factor at this iteration. */
static float factor(const fire_layer_t *l)
{
    const Caffe__GradientScalerParameter *p =
        FIRE_PARAM(l, gradient_scaler_param, CAFFE__GRADIENT_SCALER_PARAMETER__INIT);
    float iteration = (float)l->moment->step, height = p->upper_bound - p->lower_bound;
    float progress = iteration < p->max_iter ? iteration / p->max_iter : 1.0f;

    if (iteration < (float)p->threshold_iter) return 0.0f;
    return 2.0f * height / (1.0f + expf(-p->alpha * progress)) - height +
           p->lower_bound;
}

static fire_status_t gradient_scaler_forward(fire_layer_t *l)
{
    const float *x;
    float       *y;

    for (int i = 0; i < l->nbottom; i++) {
        if (l->bottom[i] == l->top[i]) continue;
        FIRE_IN(l, l->bottom[i], FIRE_DATA, &x);
        FIRE_OUT(l, l->top[i], FIRE_DATA, &y);
        fire_copy(fire_blob_count(l->bottom[i]), x, y);
    }
    return FIRE_OK;
}

static fire_status_t gradient_scaler_backward(fire_layer_t *l)
{
    float        minus = -factor(l);
    const float *dy;
    float       *dx;

    for (int i = 0; i < l->nbottom; i++) {
        if (!l->propagate_down[i]) continue;
        FIRE_IN(l, l->top[i], FIRE_DIFF, &dy);
        FIRE_OUT(l, l->bottom[i], FIRE_DIFF, &dx);
        for (int64_t k = 0; k < fire_blob_count(l->bottom[i]); k++)
            dx[k] = minus * dy[k];
    }
    return FIRE_OK;
}

static fire_status_t gradient_scaler_reshape(fire_layer_t *l)
{
    for (int i = 0; i < l->nbottom; i++)
        FIRE_TRY(fire_blob_reshape_like(l->top[i], l->bottom[i]));
    return FIRE_OK;
}

const fire_kernel_t fire_gradient_scaler_ref = {
    .name     = "ref",
    .forward  = gradient_scaler_forward,
    .backward = gradient_scaler_backward,
};

static const fire_kernel_t *const gradient_scaler_kernels[] = {
    &fire_gradient_scaler_ref, NULL};

const fire_layer_ops_t fire_layer_gradient_scaler = {
    .type    = "GradientScaler",
    .bottoms = {1, -1},
    .tops    = {1, -1},
    .flags   = FIRE_LAYER_INPLACE | FIRE_LAYER_PAIRED | FIRE_LAYER_HOST,
    .setup   = gradient_scaler_setup,
    .reshape = gradient_scaler_reshape,
    .kernels = gradient_scaler_kernels,
};
