/* nesterov.c - Nesterov's accelerated gradient;
 * elements.h has the formula. */
#include "solver/rule.h"

FIRE_RULE_LOOP_1(nesterov)

const fire_rule_t fire_rule_nesterov = {.type     = "Nesterov",
                                        .nhistory = 1,
                                        .apply    = nesterov_apply,
                                        .literal  = nesterov_literal};
