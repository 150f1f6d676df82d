/* test_change.c - what changes between iterations of a training on records. Other tests of
 * src/train/change.c are in tests/api. */
#include "run.h"

#define SOLVER                                                                        \
    "net: '%s/net.prototxt' base_lr: 0.01 lr_policy: 'fixed' momentum: 0.9 display: " \
    "0 snapshot_prefix: '%s/snap' snapshot_after_train: false random_seed: 3 "

/* Five iterations are left out after the second. */
static fire_status_t skip_five(fire_trainer_t *t)
{
    return fire_trainer_iter(t) == 2 ? fire_trainer_set_iter(t, 7) : FIRE_OK;
}

TEST(the_data_go_on_where_they_are_when_the_iteration_is_set)
{
    uint64_t plain, skipping;

    run_data(50, 1, 12);
    run_net("log");
    for (int workers = 1; workers <= 2; workers++) {
        plain    = run_train(&(run_t){.solver  = SOLVER "max_iter: 4 fire { lanes: 2 }",
                                      .workers = workers});
        skipping = run_train(&(run_t){.solver  = SOLVER "max_iter: 9 fire { lanes: 2 }",
                                      .workers = workers,
                                      .before  = skip_five});
        CHECK_EQ(strlen(run_errors[0]), 0);
        CHECK(plain == skipping);
    }
}
