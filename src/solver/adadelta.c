/* adadelta.c - h0 = m * h0 + (1 - m) * g^2;  x = g * sqrt((h1 + delta) / (h0 + delta));
 *              h1 = m * h1 + (1 - m) * x^2;  w -= rate * x           (m: momentum) */
#include "solver/rule.h"

FIRE_CLONES static void adadelta_apply(const fire_update_t *u)
{
    const fire_update_t c = *u;
    float *restrict w = c.w, *restrict g = c.g;
    float *restrict h0 = c.h[0], *restrict h1 = c.h[1];

    for (int64_t i = 0; i < c.n; i++) {
        float x = rule_gradient(&c, g[i], w[i]);

        h0[i] = fmaf(1 - c.momentum, x * x, c.momentum * h0[i]);
        x *= sqrtf((h1[i] + c.delta) / (h0[i] + c.delta));
        h1[i] = fmaf(1 - c.momentum, x * x, c.momentum * h1[i]);
        g[i]  = c.rate * x;
        w[i] -= g[i];
    }
}

const fire_rule_t fire_rule_adadelta = {
    .type = "AdaDelta", .nhistory = 2, .apply = adadelta_apply};
