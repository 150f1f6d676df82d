/* adagrad.c - rates by the sum of squared gradients (Duchi et al., 2011);
 * elements.h has the formula. */
#include "solver/rule.h"

FIRE_RULE_LOOP_1(adagrad)

const fire_rule_t fire_rule_adagrad = {.type        = "AdaGrad",
                                       .nhistory    = 1,
                                       .no_momentum = true,
                                       .apply       = adagrad_apply,
                                       .literal     = adagrad_literal};
