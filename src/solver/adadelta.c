/* adadelta.c - rates by squared gradients and squared steps (Zeiler, 2012);
 * elements.h has the formula. */
#include "solver/rule.h"

FIRE_RULE_LOOP_2(adadelta)

const fire_rule_t fire_rule_adadelta = {.type     = "AdaDelta",
                                        .nhistory = 2,
                                        .apply    = adadelta_apply,
                                        .literal  = adadelta_literal};
