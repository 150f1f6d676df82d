/* sgd.c - h = rate * g + momentum * h;  w -= h */
#include "solver/rule.h"

FIRE_CLONES static void sgd_apply(const fire_update_t *u)
{
    const fire_update_t c = *u;
    float *restrict w = c.w, *restrict g = c.g, *restrict h = c.h[0];

    for (int64_t i = 0; i < c.n; i++) {
        h[i] = fmaf(c.rate, rule_gradient(&c, g[i], w[i]), c.momentum * h[i]);
        g[i] = h[i];
        w[i] -= h[i];
    }
}

const fire_rule_t fire_rule_sgd = {.type = "SGD", .nhistory = 1, .apply = sgd_apply};
