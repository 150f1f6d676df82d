/* formulas.h - terms of losses and their derivatives; inline for CPU and GPU. */
#ifndef FIRE_LAYERS_LOSS_FORMULAS_H
#define FIRE_LAYERS_LOSS_FORMULAS_H
#include <math.h>
#include <stdbool.h>

#include "layers/scalar.h"

#define FIRE_LEAST_PROBABILITY 1e-20f /* lower bound of a probability before its log */

/* x * target - log(1 + exp(x)): the log likelihood of a target in 0 ... 1, without
 * overflow for large |x|. */
FIRE_EVERYWHERE float fire_cross_entropy(float x, float target)
{
    return x * (target - (float)(x >= 0)) -
           logf(1.0f + expf(x - 2.0f * x * (float)(x >= 0)));
}

/* (sigma x)^2 / 2 for |x| < 1 / sigma^2, else |x| - 1 / (2 sigma^2); and its
 * derivative. */
FIRE_EVERYWHERE float fire_smooth_l1(float sigma2, float x)
{
    return fabsf(x) < 1.0f / sigma2 ? 0.5f * x * x * sigma2 : fabsf(x) - 0.5f / sigma2;
}

FIRE_EVERYWHERE float fire_smooth_l1_slope(float sigma2, float x)
{
    return fabsf(x) < 1.0f / sigma2 ? sigma2 * x : fire_sign(x);
}

/* ContrastiveLoss: margin minus distance (legacy: minus squared distance) of a pair of
 * different classes; it adds to the loss if it is positive. */
FIRE_EVERYWHERE float fire_contrast_gap(float margin, bool legacy, float dist_sq)
{
    return margin - (legacy ? dist_sq : sqrtf(dist_sq));
}

/* The factor of (a - b) in the gradient of a; alpha is the loss weight / N. */
FIRE_EVERYWHERE float fire_contrast_pull(float margin, bool legacy, float dist_sq,
                                         bool same, float alpha)
{
    float gap = fire_contrast_gap(margin, legacy, dist_sq);

    if (same) return alpha;
    if (!(gap > 0.0f)) return 0.0f;
    if (legacy) return -alpha;
    return -alpha * gap / (sqrtf(dist_sq) + 1e-4f);
}

/* A target with the part `smoothing` moved to one half. */
FIRE_EVERYWHERE float fire_smooth_target(float smoothing, float target)
{
    return target * (1.0f - smoothing) + smoothing * 0.5f;
}
#endif
