/* rmsprop.c - h = d * h + (1 - d) * g^2;  w -= rate * g / (sqrt(h) + delta) */
#include "solver/rule.h"

FIRE_CLONES static void rmsprop_apply(const fire_update_t *u)
{
    const fire_update_t c = *u;
    float *restrict w = c.w, *restrict g = c.g, *restrict h = c.h[0];

    for (int64_t i = 0; i < c.n; i++) {
        float x = rule_gradient(&c, g[i], w[i]);

        h[i] = fmaf(1 - c.rms_decay, x * x, c.rms_decay * h[i]);
        g[i] = c.rate * (x / (sqrtf(h[i]) + c.delta));
        w[i] -= g[i];
    }
}

const fire_rule_t fire_rule_rmsprop = {
    .type = "RMSProp", .nhistory = 1, .no_momentum = true, .apply = rmsprop_apply};
