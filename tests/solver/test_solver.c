/* test_solver.c - what a solver file may not say. */
#include "rig.h"

static void check_refused(const char *solver, const char *message)
{
    rig_t r = rig_open_net(solver);

    CHECK_FAILS(fire_solver_create(r.param, r.net, &r.solver), FIRE_ERR_INVALID,
                message);
    CHECK(r.solver == NULL);
    rig_close(&r);
}

TEST(an_unknown_rule_is_refused_and_known_ones_are_listed)
{
    check_refused("type: 'AdamX'", "unknown solver type \"AdamX\"; known are SGD, "
                                   "Nesterov, AdaGrad, RMSProp, AdaDelta, Adam, AdamW");
}

TEST(momentum_is_refused_where_caffe_refuses_it)
{
    check_refused("type: 'AdaGrad' momentum: 0.9",
                  "momentum cannot be used with AdaGrad");
    check_refused("type: 'RMSProp' momentum: 0.9",
                  "momentum cannot be used with RMSProp");
}

TEST(settings_out_of_range_are_refused)
{
    check_refused("iter_size: 0", "iter_size must be at least 1, not 0");
    check_refused("regularization_type: 'L3'", "unknown regularization_type \"L3\"");
}

TEST(rules_are_found_by_the_names_of_solver_files)
{
    const fire_rule_t *rule;

    CHECK_OK(fire_rule_find("AdaDelta", &rule));
    CHECK_STR(rule->type, "AdaDelta");
    CHECK_EQ(rule->nhistory, 2);
    CHECK_OK(fire_rule_find("SGD", &rule));
    CHECK_EQ(rule->nhistory, 1);
}
