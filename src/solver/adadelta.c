/* adadelta.c - rates by squared gradients and squared steps (Zeiler, 2012);
 * elements.h has the formula. */
#include "solver/rule.h"

FIRE_CLONES static void adadelta_apply(const fire_update_t *u)
{
    FIRE_RULE_PASS(u, false, fire_element_adadelta(&c, w + i, g + i, h + i, k + i));
}

static void adadelta_literal(const fire_update_t *u)
{
    FIRE_RULE_PASS(u, true, fire_element_adadelta(&c, w + i, g + i, h + i, k + i));
}

const fire_rule_t fire_rule_adadelta = {.type     = "AdaDelta",
                                        .nhistory = 2,
                                        .apply    = adadelta_apply,
                                        .literal  = adadelta_literal};
