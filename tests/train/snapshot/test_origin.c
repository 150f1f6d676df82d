/* test_origin.c - going on with something else than what made a snapshot is warned of. */
#include "run.h"

#define SOLVER(type)                                                                  \
    "net: '%s/net.prototxt' base_lr: 0.01 lr_policy: 'fixed' max_iter: 20 momentum: " \
    "0.9 snapshot: 10 snapshot_prefix: '%s/snap' type: '" type "'"

static void go_on(const char *solver)
{
    run_listen();
    run_train(&(run_t){.solver = solver, .workers = 1, .resume = "10", .solve = true});
}

TEST(the_same_run_goes_on_without_a_warning)
{
    run_net("tiny");
    run_train(&(run_t){.solver = SOLVER("SGD"), .workers = 1, .solve = true});
    go_on(SOLVER("SGD"));
    CHECK(!run_heard("the snapshot was made with"));
}

TEST(another_solver_type_batch_or_data_set_is_warned_of)
{
    run_net("tiny");
    run_train(&(run_t){.solver = SOLVER("SGD"), .workers = 1, .solve = true});
    go_on(SOLVER("Nesterov"));
    CHECK(run_heard("made with the solver type SGD, this run has Nesterov"));
}
