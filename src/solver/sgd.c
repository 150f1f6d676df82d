/* sgd.c - gradient descent with momentum;
 * elements.h has the formula. */
#include "solver/rule.h"

FIRE_CLONES static void sgd_apply(const fire_update_t *u)
{
    FIRE_RULE_PASS(u, false, fire_element_sgd(&c, w + i, g + i, h + i, NULL));
}

static void sgd_literal(const fire_update_t *u)
{
    FIRE_RULE_PASS(u, true, fire_element_sgd(&c, w + i, g + i, h + i, NULL));
}

const fire_rule_t fire_rule_sgd = {
    .type = "SGD", .nhistory = 1, .apply = sgd_apply, .literal = sgd_literal};
