/* rmsprop.c - rates by a decaying mean of squared gradients (Tieleman, Hinton 2012);
 * elements.h has the formula. */
#include "solver/rule.h"

FIRE_CLONES static void rmsprop_apply(const fire_update_t *u)
{
    FIRE_RULE_PASS(u, false, fire_element_rmsprop(&c, w + i, g + i, h + i, NULL));
}

static void rmsprop_literal(const fire_update_t *u)
{
    FIRE_RULE_PASS(u, true, fire_element_rmsprop(&c, w + i, g + i, h + i, NULL));
}

const fire_rule_t fire_rule_rmsprop = {.type        = "RMSProp",
                                       .nhistory    = 1,
                                       .no_momentum = true,
                                       .apply       = rmsprop_apply,
                                       .literal     = rmsprop_literal};
