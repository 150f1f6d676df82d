/* adagrad.c - h += g^2;  w -= rate * g / (sqrt(h) + delta) */
#include "solver/rule.h"

FIRE_CLONES static void adagrad_apply(const fire_update_t *u)
{
    const fire_update_t c = *u;
    float *restrict w = c.w, *restrict g = c.g, *restrict h = c.h[0];

    for (int64_t i = 0; i < c.n; i++) {
        float x = rule_gradient(&c, g[i], w[i]);

        h[i] = x * x + h[i];
        g[i] = c.rate * (x / (sqrtf(h[i]) + c.delta));
        w[i] -= g[i];
    }
}

const fire_rule_t fire_rule_adagrad = {
    .type = "AdaGrad", .nhistory = 1, .no_momentum = true, .apply = adagrad_apply};
