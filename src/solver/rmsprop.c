/* rmsprop.c - rates by a decaying mean of squared gradients (Tieleman, Hinton 2012);
 * elements.h has the formula. */
#include "solver/rule.h"

FIRE_RULE_LOOP_1(rmsprop)

const fire_rule_t fire_rule_rmsprop = {.type        = "RMSProp",
                                       .nhistory    = 1,
                                       .no_momentum = true,
                                       .apply       = rmsprop_apply,
                                       .literal     = rmsprop_literal};
