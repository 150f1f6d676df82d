/* relu.c - y = max(x, 0) + negative_slope * min(x, 0) */
#include "layers/layer.h"

typedef struct relu {
    float slope;
} relu_t;

static fire_status_t relu_setup(fire_layer_t *l)
{
    const Caffe__ReLUParameter *p = l->param->relu_param;

    FIRE_STATE(l, relu_t)->slope = p != NULL ? p->negative_slope : 0.0f;
    return FIRE_OK;
}

static fire_status_t relu_forward(fire_layer_t *l)
{
    float        slope = FIRE_STATE(l, relu_t)->slope;
    int64_t      n     = fire_blob_count(l->top[0]);
    const float *x;
    float       *y;

    FIRE_IN(l, l->bottom[0], FIRE_DATA, &x);
    FIRE_OUT(l, l->top[0], FIRE_DATA, &y);
    for (int64_t i = 0; i < n; i++)
        y[i] = (x[i] > 0 ? x[i] : 0) + slope * (x[i] < 0 ? x[i] : 0);
    return FIRE_OK;
}

/* In place, x is already y; both have the same sign, which is all that is used. */
static fire_status_t relu_backward(fire_layer_t *l)
{
    float        slope = FIRE_STATE(l, relu_t)->slope;
    int64_t      n     = fire_blob_count(l->top[0]);
    const float *x, *dy;
    float       *dx;

    if (!l->propagate_down[0]) return FIRE_OK;
    FIRE_IN(l, l->bottom[0], FIRE_DATA, &x);
    FIRE_IN(l, l->top[0], FIRE_DIFF, &dy);
    FIRE_OUT(l, l->bottom[0], FIRE_DIFF, &dx);
    for (int64_t i = 0; i < n; i++)
        dx[i] = dy[i] * ((x[i] > 0) + slope * (x[i] <= 0));
    return FIRE_OK;
}

static const fire_kernel_t relu_kernels[] = {
    {.name = "ref", .forward = relu_forward, .backward = relu_backward},
    {0},
};

const fire_layer_ops_t fire_layer_relu = {
    .type       = "ReLU",
    .bottoms    = {1, 1},
    .tops       = {1, 1},
    .flags      = FIRE_LAYER_INPLACE,
    .state_size = sizeof(relu_t),
    .setup      = relu_setup,
    .reshape    = fire_layer_reshape_same,
    .kernels    = relu_kernels,
};
