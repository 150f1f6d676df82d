/* nesterov.c - h' = rate * g + momentum * h;  w -= (1 + momentum) * h' - momentum * h */
#include "solver/rule.h"

FIRE_CLONES static void nesterov_apply(const fire_update_t *u)
{
    const fire_update_t c = *u;
    float *restrict w = c.w, *restrict g = c.g, *restrict h = c.h[0];

    for (int64_t i = 0; i < c.n; i++) {
        float old = h[i];

        h[i] = fmaf(c.rate, rule_gradient(&c, g[i], w[i]), c.momentum * old);
        g[i] = fmaf(1 + c.momentum, h[i], -c.momentum * old);
        w[i] -= g[i];
    }
}

const fire_rule_t fire_rule_nesterov = {
    .type = "Nesterov", .nhistory = 1, .apply = nesterov_apply};
