/* Points of a grid, and the solver of each. */
#include "base/alloc.h"
#include "sweeps.h"

TEST(points_are_numbered_row_by_row)
{
    fire_sweep_t s = make_sweep("8,16", "0.1,0.2,0.4");
    char         name[64], *dir;

    CHECK_EQ(fire_sweep_points(&s), 6);
    CHECK_EQ(fire_sweep_batch(&s, 2), 8);
    CHECK_EQ(fire_sweep_batch(&s, 3), 16);
    CHECK_NEAR(fire_sweep_rate(&s, 4), 0.2, 0);
    fire_sweep_name(&s, 4, name);
    CHECK_STR(name, "batch16_lr0.2");
    CHECK_OK(fire_sweep_dir(&s, 4, &dir));
    CHECK(strstr(dir, "grid/batch16_lr0.2") != NULL);
    fire_free(dir);
    fire_sweep_close(&s);
}

TEST(an_axis_that_is_not_given_has_the_solvers_value)
{
    fire_sweep_t s = make_sweep("", "");

    CHECK_EQ(fire_sweep_points(&s), 1);
    CHECK_EQ(fire_sweep_batch(&s, 0), 8);
    CHECK_NEAR((float)fire_sweep_rate(&s, 0), 0.1f, 0);
    fire_sweep_close(&s);
}

/* Twice the batch: half the iterations, twice the rate. */
TEST(the_same_epochs_are_fewer_iterations_of_a_larger_batch)
{
    fire_sweep_t            s = make_sweep("16", "");
    Caffe__SolverParameter *p;

    CHECK_OK(fire_sweep_solver(&s, 0, &p));
    CHECK_EQ(p->max_iter, 6);
    CHECK_EQ(p->stepsize, 2);
    CHECK_EQ(p->display, 3);
    CHECK_EQ(p->snapshot, 3);
    CHECK_NEAR(p->fire->scale_lr, 2, 0);
    CHECK_NEAR(p->base_lr, 0.1f, 0);
    fire_message_free(p);
    fire_sweep_close(&s);
}

TEST(iterations_may_be_held_and_rates_left_alone)
{
    const fire_sweep_settings_t settings = {"16", "", "none", "iterations"};
    fire_sweep_t                s;
    Caffe__SolverParameter     *p;

    CHECK_OK(try_sweep(&settings, &s));
    CHECK_OK(fire_sweep_solver(&s, 0, &p));
    CHECK_EQ(p->max_iter, 12);
    CHECK_EQ(p->stepsize, 4);
    CHECK(p->fire == NULL || !p->fire->has_scale_lr);
    fire_message_free(p);
    fire_sweep_close(&s);
}

TEST(the_square_root_scales_less)
{
    const fire_sweep_settings_t settings = {"32", "", "sqrt", "epochs"};
    fire_sweep_t                s;
    Caffe__SolverParameter     *p;

    CHECK_OK(try_sweep(&settings, &s));
    CHECK_OK(fire_sweep_solver(&s, 0, &p));
    CHECK_NEAR(p->fire->scale_lr, 2, 0);
    fire_message_free(p);
    fire_sweep_close(&s);
}

static void check_refused(const char *batches, const char *rates, const char *scaling,
                          const char *hold, const char *text)
{
    const fire_sweep_settings_t settings = {batches, rates, scaling, hold};
    fire_sweep_t                s;

    CHECK_FAILS(try_sweep(&settings, &s), FIRE_ERR_INVALID, text);
}

TEST(values_that_make_no_grid_are_refused)
{
    check_refused("8,many", "", "linear", "epochs", "--batches is a list of positive");
    check_refused("8.5", "", "linear", "epochs", "no number of images");
    check_refused("", "-1", "linear", "epochs", "--rates is a list of positive");
    check_refused("", "0.1,0.10", "linear", "epochs", "--rates has 0.10 twice");
    check_refused("", "", "cubic", "epochs", "--scaling is none, linear or sqrt");
    check_refused("", "", "linear", "still", "--hold is epochs or iterations");
}
