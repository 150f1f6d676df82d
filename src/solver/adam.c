/* adam.c - rates by decaying means of gradients and their squares (Kingma, Ba 2014);
 * elements.h has the formula. */
#include "solver/rule.h"

FIRE_CLONES static void adam_apply(const fire_update_t *u)
{
    FIRE_RULE_PASS(u, false, fire_element_adam(&c, w + i, g + i, h + i, k + i));
}

static void adam_literal(const fire_update_t *u)
{
    FIRE_RULE_PASS(u, true, fire_element_adam(&c, w + i, g + i, h + i, k + i));
}

const fire_rule_t fire_rule_adam = {
    .type = "Adam", .nhistory = 2, .apply = adam_apply, .literal = adam_literal};
