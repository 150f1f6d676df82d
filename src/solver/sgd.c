/* sgd.c - gradient descent with momentum;
 * elements.h has the formula. */
#include "solver/rule.h"

FIRE_RULE_LOOP_1(sgd)

const fire_rule_t fire_rule_sgd = {
    .type = "SGD", .nhistory = 1, .apply = sgd_apply, .literal = sgd_literal};
