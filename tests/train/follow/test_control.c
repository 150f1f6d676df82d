/* test_control.c - settings that change while a training runs, by a file. */
#include <unistd.h>

#include "run.h"

#define SOLVER                                                                  \
    "net: '%s/net.prototxt' base_lr: 0.00001 lr_policy: 'fixed' momentum: 0.9 " \
    "max_iter: 20 snapshot_prefix: '%s/snap' snapshot_after_train: false "      \
    "random_seed: 7 fire { lanes: 4 }"

static void prepare(void)
{
    run_net("log");
    run_data(60, 1, 12);
}

static bool is_there(const char *name)
{
    return access(test_path(name), F_OK) == 0;
}

static uint64_t train_with(const char *control, int workers)
{
    run_file("control", control);
    return run_train(
        &(run_t){.solver = SOLVER, .workers = workers, .solve = true, .control = true});
}

TEST(all_workers_change_settings_after_the_same_iteration)
{
    uint64_t changed, plain;

    prepare();
    run_listen();
    changed = train_with("base_lr: 0.00003\n", 1);
    CHECK(run_heard("Iteration 1: from now on base_lr: 0.00003"));
    CHECK(is_there("control.applied") && !is_there("control"));
    plain = run_train(&(run_t){.solver = SOLVER, .workers = 1, .solve = true});
    CHECK(changed != plain);
    CHECK_EQ(train_with("base_lr: 0.00003", 4), changed);
}

TEST(the_end_of_a_training_can_be_moved)
{
    prepare();
    run_listen();
    train_with("max_iter: 3", 2);
    CHECK(!run_heard("Iteration 4"));
    run_losses[39] = 0;
    train_with("max_iter: 40", 2);
    CHECK(run_losses[39] != 0);
}

TEST(what_cannot_change_changes_nothing)
{
    uint64_t plain;

    prepare();
    plain = run_train(&(run_t){.solver = SOLVER, .workers = 1, .solve = true});
    run_listen();
    CHECK_EQ(train_with("base_lr: 0.1 type: 'Adam'", 1), plain);
    CHECK(run_heard("control: nothing is changed: type cannot change while a trainer"));
    CHECK(is_there("control.refused"));
    run_listen();
    CHECK_EQ(train_with("base_lrr: 1", 2), plain);
    CHECK(run_heard("did you mean \"base_lr\"?"));
}
