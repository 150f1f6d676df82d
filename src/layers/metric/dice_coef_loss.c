/* dice_coef_loss.c - DiceCoefLoss: loss = mean over items of
 * 1 - (2 sum(a b) + 1) / (sum(a^2) + sum(b^2) + 1). Runs on the CPU.
 *
 *   bottom 0, 1: (N, ...) a and b, of the same shape; both have a gradient
 *   top 0:       () loss */
#include "device/cpu/blas.h"
#include "layers/loss/loss.h"

static const float smooth = 1.0f;

static fire_status_t dice_forward(fire_layer_t *l)
{
    int64_t      items = fire_blob_dim_or_1(l->bottom[0], 0);
    int64_t      n     = items > 0 ? fire_blob_count(l->bottom[0]) / items : 0;
    const float *a, *b;
    float       *top, sum = 0.0f;

    FIRE_IN(l, l->bottom[0], FIRE_DATA, &a);
    FIRE_IN(l, l->bottom[1], FIRE_DATA, &b);
    FIRE_OUT(l, l->top[0], FIRE_DATA, &top);
    for (int64_t i = 0; i < items; i++, a += n, b += n)
        sum += 1.0f - (2.0f * fire_dot(n, a, b) + smooth) /
                          (fire_dot(n, a, a) + fire_dot(n, b, b) + smooth);
    top[0] = items > 0 ? sum / (float)items : 0.0f;
    return FIRE_OK;
}

/* d(-u / v) = (-2 b v + 2 a u) / v^2, with u and v numerator and denominator. */
static fire_status_t backward_to(fire_layer_t *l, int bottom)
{
    int64_t      items = fire_blob_dim_or_1(l->bottom[0], 0);
    int64_t      n     = items > 0 ? fire_blob_count(l->bottom[0]) / items : 0;
    const float *a, *b;
    float       *dx, weight;

    if (!l->propagate_down[bottom]) return FIRE_OK;
    FIRE_TRY(fire_layer_loss_weight(l, &weight));
    FIRE_IN(l, l->bottom[bottom], FIRE_DATA, &a);
    FIRE_IN(l, l->bottom[1 - bottom], FIRE_DATA, &b);
    FIRE_OUT(l, l->bottom[bottom], FIRE_DIFF, &dx);
    for (int64_t i = 0; i < items; i++, a += n, b += n, dx += n) {
        float u = 2.0f * fire_dot(n, a, b) + smooth;
        float v = fire_dot(n, a, a) + fire_dot(n, b, b) + smooth;
        float w = 2.0f * weight / (float)items;

        for (int64_t k = 0; k < n; k++)
            dx[k] = w * (a[k] * u / v - b[k]) / v;
    }
    return FIRE_OK;
}

static fire_status_t dice_backward(fire_layer_t *l)
{
    FIRE_TRY(backward_to(l, 0));
    return backward_to(l, 1);
}

const fire_kernel_t fire_dice_coef_loss_ref = {
    .name     = "ref",
    .forward  = dice_forward,
    .backward = dice_backward,
};

static const fire_kernel_t *const dice_coef_loss_kernels[] = {&fire_dice_coef_loss_ref,
                                                              NULL};

const fire_layer_ops_t fire_layer_dice_coef_loss = {
    .type    = "DiceCoefLoss",
    .bottoms = {2, 2},
    .tops    = {1, 1},
    .flags   = FIRE_LAYER_LOSS | FIRE_LAYER_AUTO_TOP | FIRE_LAYER_HOST,
    .reshape = fire_loss_reshape_pair,
    .kernels = dice_coef_loss_kernels,
};
