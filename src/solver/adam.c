/* adam.c - rates by decaying means of gradients and their squares (Kingma, Ba 2014);
 * elements.h has the formula. */
#include "solver/rule.h"

FIRE_RULE_LOOP_2(adam)

const fire_rule_t fire_rule_adam = {
    .type = "Adam", .nhistory = 2, .apply = adam_apply, .literal = adam_literal};
