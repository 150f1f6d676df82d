/* nesterov.c - Nesterov's accelerated gradient;
 * elements.h has the formula. */
#include "solver/rule.h"

FIRE_CLONES static void nesterov_apply(const fire_update_t *u)
{
    FIRE_RULE_PASS(u, false, fire_element_nesterov(&c, w + i, g + i, h + i, NULL));
}

static void nesterov_literal(const fire_update_t *u)
{
    FIRE_RULE_PASS(u, true, fire_element_nesterov(&c, w + i, g + i, h + i, NULL));
}

const fire_rule_t fire_rule_nesterov = {.type     = "Nesterov",
                                        .nhistory = 1,
                                        .apply    = nesterov_apply,
                                        .literal  = nesterov_literal};
