/* swish.c - y = x sigmoid(beta x) */
#include <math.h>

#include "device/cpu/blas.h"
#include "layers/neuron/neuron.h"

typedef struct swish {
    float          beta;
    fire_scratch_t sigmoid; /* of beta x, kept for backward */
} swish_t;

static fire_status_t swish_setup(fire_layer_t *l)
{
    const Caffe__SwishParameter *p =
        FIRE_PARAM(l, swish_param, CAFFE__SWISH_PARAMETER__INIT);

    FIRE_STATE(l, swish_t)->beta = p->beta;
    return FIRE_OK;
}

static fire_status_t swish_reshape(fire_layer_t *l)
{
    FIRE_TRY(fire_scratch_fit(&FIRE_STATE(l, swish_t)->sigmoid,
                              fire_blob_count(l->bottom[0])));
    return fire_layer_reshape_same(l);
}

static fire_status_t swish_forward(fire_layer_t *l)
{
    swish_t     *s   = l->state;
    int64_t      n   = fire_blob_count(l->top[0]);
    float       *sig = s->sigmoid.x;
    const float *x;
    float       *y;

    FIRE_IN(l, l->bottom[0], FIRE_DATA, &x);
    FIRE_OUT(l, l->top[0], FIRE_DATA, &y);
    for (int64_t i = 0; i < n; i++) {
        sig[i] = (float)(0.5 * tanh(0.5 * (x[i] * s->beta)) + 0.5);
        y[i]   = x[i] * sig[i];
    }
    return FIRE_OK;
}

static fire_status_t swish_backward(fire_layer_t *l)
{
    const swish_t *s   = l->state;
    int64_t        n   = fire_blob_count(l->top[0]);
    const float   *sig = s->sigmoid.x;
    const float   *y, *dy;
    float         *dx;

    if (!l->propagate_down[0]) return FIRE_OK;
    FIRE_IN(l, l->top[0], FIRE_DATA, &y);
    FIRE_IN(l, l->top[0], FIRE_DIFF, &dy);
    FIRE_OUT(l, l->bottom[0], FIRE_DIFF, &dx);
    for (int64_t i = 0; i < n; i++)
        dx[i] = (float)(dy[i] * (s->beta * y[i] + sig[i] * (1.0 - s->beta * y[i])));
    return FIRE_OK;
}

static void swish_teardown(fire_layer_t *l)
{
    fire_scratch_free(&FIRE_STATE(l, swish_t)->sigmoid);
}

static const fire_kernel_t swish_kernels[] = {
    {.name = "ref", .forward = swish_forward, .backward = swish_backward},
    {0},
};

const fire_layer_ops_t fire_layer_swish = {
    .type       = "Swish",
    .bottoms    = {1, 1},
    .tops       = {1, 1},
    .flags      = FIRE_LAYER_INPLACE,
    .state_size = sizeof(swish_t),
    .setup      = swish_setup,
    .reshape    = swish_reshape,
    .teardown   = swish_teardown,
    .kernels    = swish_kernels,
};
