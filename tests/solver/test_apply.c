/* test_apply.c - what happens to gradients before a rule sees them: clipping, iter_size,
 * regularisation, rates per parameter; and running statistics. Tests src/solver/update.c
 * too. */
#include "rig.h"

TEST(clipping_scales_all_gradients_to_the_norm_that_is_allowed)
{
    rig_t r = rig_open("base_lr: 1 clip_gradients: 2");

    CHECK_OK(fire_solver_begin(r.solver));
    memcpy(rig_gradients(&r, 0), (float[]){3, 0, 0, 0}, 4 * sizeof(float));
    memcpy(rig_gradients(&r, 1), (float[]){0, 4}, 2 * sizeof(float)); /* norm 5 */
    CHECK_OK(fire_solver_clip(r.solver));
    CHECK_NEAR(r.solver->clip_scale, 0.4, 1e-7);
    for (int i = 0; i < 2; i++)
        CHECK_OK(fire_solver_update(r.solver, i, 0, r.net->learn[i].blob->count));
    CHECK_NEAR(rig_weights(&r, 0)[0], -3 * 0.4, 1e-6);
    CHECK_NEAR(rig_weights(&r, 1)[1], -4 * 0.4, 1e-6);
    rig_close(&r);
}

TEST(gradients_within_the_allowed_norm_are_left_alone)
{
    rig_t r = rig_open("base_lr: 1 clip_gradients: 2");

    CHECK_NEAR(rig_step(&r, 1.5f), -1.5, 0);
    CHECK_NEAR(r.solver->clip_scale, 1, 0);
    CHECK_NEAR(rig_step(&r, 8), -1.5 - 2, 1e-6);
    CHECK_NEAR(rig_step(&r, 1), -3.5 - 1, 1e-6); /* the scale is of one iteration */
    rig_close(&r);
}

/* Caffe clips the sum over passes, then divides it by their number. */
TEST(clipping_comes_before_the_mean_over_iter_size_passes)
{
    rig_t r = rig_open("base_lr: 1 clip_gradients: 2 iter_size: 4");

    CHECK_NEAR(rig_step(&r, 8), -2.0 / 4, 1e-7);
    CHECK_NEAR(rig_step(&r, 1), -0.5 - 1.0 / 4, 1e-7);
    rig_close(&r);
}

static double after_step(const char *solver, float weight)
{
    rig_t r = rig_open(solver);
    float w;

    rig_weights(&r, 0)[0] = weight;
    w                     = rig_step(&r, 3);
    rig_close(&r);
    return (double)w;
}

TEST(weight_decay_adds_the_weight_or_its_sign_to_the_gradient)
{
    CHECK_NEAR(after_step("weight_decay: 0.1", 10), 10 - 0.5 * (3 + 0.1 * 10), 1e-6);
    CHECK_NEAR(after_step("weight_decay: 0.1", -10), -10 - 0.5 * (3 - 0.1 * 10), 1e-6);
    CHECK_NEAR(after_step("weight_decay: 0.1 regularization_type: 'L1'", 10),
               10 - 0.5 * (3 + 0.1), 1e-6);
    CHECK_NEAR(after_step("weight_decay: 0.1 regularization_type: 'L1'", -10),
               -10 - 0.5 * (3 - 0.1), 1e-6);
    CHECK_NEAR(after_step("weight_decay: 0.1 regularization_type: 'L1'", 0),
               0 - 0.5 * 3, 1e-6);
}

/* Clipping and the mean scale the gradient, not what weight decay adds to it. */
TEST(weight_decay_is_not_scaled)
{
    CHECK_NEAR(after_step("weight_decay: 0.1 iter_size: 2", 10),
               10 - 0.5 * (1.5 + 0.1 * 10), 1e-6);
    CHECK_NEAR(after_step("weight_decay: 0.1 clip_gradients: 1", 10),
               10 - 0.5 * (1 + 0.1 * 10), 1e-6);
}

TEST(lr_mult_and_decay_mult_are_of_a_parameter)
{
    rig_t r = rig_open("weight_decay: 0.1");

    r.net->learn[0].lr_mult    = 2;
    r.net->learn[0].decay_mult = 3;
    rig_weights(&r, 0)[0]      = 10;
    CHECK_NEAR(rig_step(&r, 3), 10 - 2 * 0.5 * (3 + 3 * 0.1 * 10), 1e-5);
    rig_close(&r);
}

TEST(spans_of_a_parameter_can_be_updated_in_any_order)
{
    rig_t whole = rig_open("momentum: 0.9"), parts = rig_open("momentum: 0.9");

    for (int i = 0; i < 4; i++)
        rig_gradients(&whole, 0)[i] = rig_gradients(&parts, 0)[i] = (float)(i + 1) / 3;
    CHECK_OK(fire_solver_begin(whole.solver));
    CHECK_OK(fire_solver_update(whole.solver, 0, 0, 4));
    CHECK_OK(fire_solver_begin(parts.solver));
    CHECK_OK(fire_solver_update(parts.solver, 0, 3, 1));
    CHECK_OK(fire_solver_update(parts.solver, 0, 0, 2));
    CHECK_NEAR(rig_weights(&parts, 0)[2], 0, 0); /* not yet */
    CHECK_OK(fire_solver_update(parts.solver, 0, 2, 1));
    CHECK(memcmp(rig_weights(&whole, 0), rig_weights(&parts, 0), 4 * sizeof(float)) ==
          0);
    rig_close(&whole);
    rig_close(&parts);
}

/* With several lanes, the diff holds the sum over lanes of what each contributes. */
TEST(running_statistics_decay_once_per_pass_and_add_the_mean_over_lanes)
{
    rig_t         r = rig_open("iter_size: 2");
    fire_param_t *p = &r.net->learn[0];

    p->kind                   = FIRE_PARAM_STATISTIC;
    p->stat_decay             = 0.5f;
    r.net->moment.defer_stats = true;
    r.solver->lanes           = 4;
    rig_weights(&r, 0)[0]     = 8;
    CHECK_NEAR(rig_step(&r, 12), 0.25 * 8 + 12.0 / 4, 1e-6);
    rig_close(&r);
}
