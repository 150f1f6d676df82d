/* l1_loss.c - loss = sum |a - b| / N; both bottoms take a gradient */
#include "device/cpu/blas.h"
#include "layers/loss/loss.h"
#include "layers/scalar.h"

typedef struct l1 {
    fire_scratch_t diff; /* a - b */
} l1_t;

static fire_status_t l1_reshape(fire_layer_t *l)
{
    FIRE_TRY(fire_loss_reshape_pair(l));
    return fire_scratch_fit(&FIRE_STATE(l, l1_t)->diff, fire_blob_count(l->bottom[0]));
}

static fire_status_t l1_forward(fire_layer_t *l)
{
    float       *diff = FIRE_STATE(l, l1_t)->diff.x;
    int64_t      n    = fire_blob_count(l->bottom[0]);
    const float *a, *b;
    float       *top;

    FIRE_IN(l, l->bottom[0], FIRE_DATA, &a);
    FIRE_IN(l, l->bottom[1], FIRE_DATA, &b);
    FIRE_OUT(l, l->top[0], FIRE_DATA, &top);
    for (int64_t i = 0; i < n; i++)
        diff[i] = a[i] - b[i];
    top[0] = fire_asum(n, diff) / (float)fire_blob_dim_or_1(l->bottom[0], 0);
    return FIRE_OK;
}

static fire_status_t l1_backward(fire_layer_t *l)
{
    const float *diff = FIRE_STATE(l, l1_t)->diff.x;
    int64_t      n    = fire_blob_count(l->bottom[0]);
    float       *dx, weight;

    FIRE_TRY(fire_layer_loss_weight(l, &weight));
    weight /= (float)fire_blob_dim_or_1(l->bottom[0], 0);
    for (int b = 0; b < 2; b++) {
        if (!l->propagate_down[b]) continue;
        FIRE_OUT(l, l->bottom[b], FIRE_DIFF, &dx);
        for (int64_t i = 0; i < n; i++)
            dx[i] = (b == 0 ? weight : -weight) * fire_sign(diff[i]);
    }
    return FIRE_OK;
}

static void l1_teardown(fire_layer_t *l)
{
    fire_scratch_free(&FIRE_STATE(l, l1_t)->diff);
}

static const fire_kernel_t l1_kernels[] = {
    {.name = "ref", .forward = l1_forward, .backward = l1_backward},
    {0},
};

const fire_layer_ops_t fire_layer_l1_loss = {
    .type       = "L1Loss",
    .bottoms    = {2, 2},
    .tops       = {1, 1},
    .flags      = FIRE_LAYER_LOSS | FIRE_LAYER_AUTO_TOP,
    .state_size = sizeof(l1_t),
    .reshape    = l1_reshape,
    .teardown   = l1_teardown,
    .kernels    = l1_kernels,
};
