/* adam.c - m = b1 * m + (1 - b1) * g;  v = b2 * v + (1 - b2) * g^2;
 *          w -= rate * correction * m / (sqrt(v) + delta) */
#include "solver/rule.h"

FIRE_CLONES static void adam_apply(const fire_update_t *u)
{
    const fire_update_t c    = *u;
    const float         rate = c.rate * c.correction;
    float *restrict w = c.w, *restrict g = c.g;
    float *restrict m = c.h[0], *restrict v = c.h[1];

    for (int64_t i = 0; i < c.n; i++) {
        float x = rule_gradient(&c, g[i], w[i]);

        m[i] = fmaf(1 - c.momentum, x, c.momentum * m[i]);
        v[i] = fmaf(1 - c.momentum2, x * x, c.momentum2 * v[i]);
        g[i] = rate * (m[i] / (sqrtf(v[i]) + c.delta));
        w[i] -= g[i];
    }
}

const fire_rule_t fire_rule_adam = {.type = "Adam", .nhistory = 2, .apply = adam_apply};
