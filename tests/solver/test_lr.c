/* test_lr.c - learning rate policies against their formulas, warm-up, and what is
 * refused. */
#include "rig.h"

static double rate_at(const char *solver, int64_t iter)
{
    rig_t r = rig_open(solver);
    float rate;

    r.solver->iter = iter;
    rate           = fire_solver_rate(r.solver);
    rig_close(&r);
    return (double)rate;
}

TEST(each_policy_follows_its_formula)
{
    CHECK_NEAR(rate_at("base_lr: 0.1 lr_policy: 'fixed'", 1000), 0.1, 1e-8);
    CHECK_NEAR(rate_at("base_lr: 0.1 lr_policy: 'step' gamma: 0.5 stepsize: 10", 9),
               0.1, 1e-8);
    CHECK_NEAR(rate_at("base_lr: 0.1 lr_policy: 'step' gamma: 0.5 stepsize: 10", 35),
               0.1 * 0.125, 1e-8);
    CHECK_NEAR(rate_at("base_lr: 0.1 lr_policy: 'exp' gamma: 0.9", 3), 0.1 * 0.729,
               1e-8);
    CHECK_NEAR(rate_at("base_lr: 0.1 lr_policy: 'inv' gamma: 0.5 power: 2", 6),
               0.1 / 16, 1e-8);
    CHECK_NEAR(rate_at("base_lr: 1 lr_policy: 'poly' power: 2 max_iter: 100", 10), 0.81,
               1e-6);
    CHECK_NEAR(rate_at("base_lr: 1 lr_policy: 'sigmoid' gamma: 0.5 stepsize: 10", 10),
               0.5, 1e-7);
    CHECK_NEAR(rate_at("base_lr: 1 lr_policy: 'sigmoid' gamma: 0.5 stepsize: 10", 14),
               1 / (1 + exp(-0.5 * 4)), 1e-6);
    CHECK_NEAR(rate_at("base_lr: 1 lr_policy: 'cosine' max_iter: 100", 0), 1, 1e-7);
    CHECK_NEAR(rate_at("base_lr: 1 lr_policy: 'cosine' max_iter: 90", 30), 0.75, 1e-7);
    CHECK_NEAR(rate_at("base_lr: 1 lr_policy: 'cosine' max_iter: 100", 100), 0, 1e-7);
}

TEST(multistep_drops_the_rate_at_each_stepvalue)
{
    rig_t r = rig_open("base_lr: 1 lr_policy: 'multistep' gamma: 0.1 stepvalue: 2 "
                       "stepvalue: 5");
    const double want[7] = {1, 1, 0.1, 0.1, 0.1, 0.01, 0.01};

    for (int i = 0; i < 7; i++) {
        CHECK_OK(fire_solver_begin(r.solver));
        CHECK_NEAR(r.solver->rate, want[i], 1e-8);
        fire_solver_end(r.solver);
    }
    rig_close(&r);
}

TEST(warm_up_leads_from_a_share_of_the_scaled_rate_to_all_of_it)
{
    static const char solver[] =
        "base_lr: 0.1 lr_policy: 'fixed' fire { scale_lr: 8 warmup_iter: 10 "
        "warmup_ratio: 0.25 }";

    CHECK_NEAR(rate_at(solver, 0), 0.2, 1e-6);
    CHECK_NEAR(rate_at(solver, 5), 0.5, 1e-6);
    CHECK_NEAR(rate_at(solver, 10), 0.8, 1e-6);
    CHECK_NEAR(rate_at(solver, 500), 0.8, 1e-6);
}

TEST(policies_of_forks_and_ours_follow_their_formulas)
{
    static const char *const multi = "lr_policy: 'multifixed' stagelr: 1 stagelr: 0.5 "
                                     "stageiter: 10 stageiter: 20";
    static const char *const cycle = "base_lr: 1 min_lr: 0.5 lr_policy: 'cyclic' "
                                     "stepsize: 10";
    static const char *const one   = "base_lr: 1 min_lr: 0.01 lr_policy: 'onecycle' "
                                     "max_iter: 100";

    CHECK_NEAR(
        rate_at("base_lr: 1 min_lr: 0.2 lr_policy: 'poly' power: 1 max_iter: 100", 50),
        0.6, 1e-6);
    CHECK_NEAR(rate_at("base_lr: 1 min_lr: 0.2 lr_policy: 'cosine' max_iter: 100", 50),
               0.6, 1e-6);
    CHECK_NEAR(rate_at(multi, 10), 1, 0);
    CHECK_NEAR(rate_at(multi, 11), 0.5, 0);
    CHECK_NEAR(rate_at(multi, 99), 0.5, 0);
    CHECK_NEAR(rate_at(cycle, 0), 0.5, 1e-7);
    CHECK_NEAR(rate_at(cycle, 4), 0.7, 1e-6);
    CHECK_NEAR(rate_at(cycle, 10), 1, 1e-7);
    CHECK_NEAR(rate_at(cycle, 35), 0.75, 1e-6);
    CHECK_NEAR(rate_at("base_lr: 1 lr_policy: 'cyclic' stepsize: 10 gamma: 0.5", 30),
               0.5, 1e-7);
    CHECK_NEAR(rate_at(one, 0), 0.04, 1e-7);
    CHECK_NEAR(rate_at(one, 15), 0.52, 1e-6);
    CHECK_NEAR(rate_at(one, 30), 1, 1e-6);
    CHECK_NEAR(rate_at(one, 65), 0.505, 1e-6);
    CHECK_NEAR(rate_at(one, 100), 0.01, 1e-7);
}

TEST(poly_and_cosine_go_on_under_a_warm_up)
{
    CHECK_NEAR(rate_at("base_lr: 1 lr_policy: 'poly' power: 2 max_iter: 100 fire { "
                       "warmup_iter: 20 warmup_ratio: 0 }",
                       10),
               0.9 * 0.9 * 0.5, 1e-6);
    CHECK_NEAR(rate_at("base_lr: 1 lr_policy: 'cosine' max_iter: 100 fire { "
                       "warmup_iter: 10 }",
                       50),
               0.5, 1e-6);
}

static void check_refused(const char *solver, const char *message)
{
    rig_t r = rig_open_net(solver);

    CHECK_FAILS(fire_solver_create(r.param, r.net, &r.solver), FIRE_ERR_INVALID,
                message);
    rig_close(&r);
}

TEST(a_policy_without_what_it_needs_is_refused)
{
    check_refused("lr_policy: 'stepp'", "unknown lr_policy \"stepp\"");
    check_refused("lr_policy: 'step'", "needs a stepsize > 0");
    check_refused("lr_policy: 'poly'", "\"poly\" needs max_iter > 0");
    check_refused("lr_policy: 'cosine'", "\"cosine\" needs max_iter > 0");
    check_refused("lr_policy: 'cyclic'", "\"cyclic\" needs a stepsize > 0");
    check_refused("lr_policy: 'onecycle'", "\"onecycle\" needs max_iter > 0");
    check_refused("lr_policy: 'multifixed' stagelr: 1", "there are 1 and 0");
    check_refused("lr_policy: 'plateau' gamma: 1", "needs a gamma between 0 and 1");
    check_refused("base_lr: nan", "base_lr must be a number");
}
