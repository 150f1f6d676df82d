/* adamw.c - Adam with decoupled weight decay (Loshchilov, Hutter 2017): before its step
 * w -= rate * weight_decay * w (apply.c), of which the means see nothing. */
#include "solver/rule.h"

FIRE_CLONES static void adamw_apply(const fire_update_t *u)
{
    FIRE_RULE_PASS(u, false, fire_element_adam(&c, w + i, g + i, h + i, k + i));
}

static void adamw_literal(const fire_update_t *u)
{
    FIRE_RULE_PASS(u, true, fire_element_adam(&c, w + i, g + i, h + i, k + i));
}

const fire_rule_t fire_rule_adamw = {.type      = "AdamW",
                                     .nhistory  = 2,
                                     .decoupled = true,
                                     .apply     = adamw_apply,
                                     .literal   = adamw_literal};
