/* adagrad.c - rates by the sum of squared gradients (Duchi et al., 2011);
 * elements.h has the formula. */
#include "solver/rule.h"

FIRE_CLONES static void adagrad_apply(const fire_update_t *u)
{
    FIRE_RULE_PASS(u, false, fire_element_adagrad(&c, w + i, g + i, h + i, NULL));
}

static void adagrad_literal(const fire_update_t *u)
{
    FIRE_RULE_PASS(u, true, fire_element_adagrad(&c, w + i, g + i, h + i, NULL));
}

const fire_rule_t fire_rule_adagrad = {.type        = "AdaGrad",
                                       .nhistory    = 1,
                                       .no_momentum = true,
                                       .apply       = adagrad_apply,
                                       .literal     = adagrad_literal};
