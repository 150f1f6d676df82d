/* test_vigil.c - a worker that writes for longer than the deadline is not taken for
 * dead. */
#include "faults.h"
#include "run.h"

#include "base/clock.h"

#define DEADLINE 2
#define SOLVER                                                                       \
    "net: '%s/net.prototxt' base_lr: 0.01 lr_policy: 'fixed' max_iter: 2 snapshot: " \
    "2 snapshot_prefix: '%s/snap' fire { deadline: 2 overlap: '"

TEST(who_writes_a_large_snapshot_is_not_taken_for_dead)
{
    static const char *const solvers[] = {SOLVER "thread' }", SOLVER "poll' }",
                                          SOLVER "off' }"};

    run_net("six");
    for (size_t i = 0; i < sizeof(solvers) / sizeof(solvers[0]); i++) {
        double began = fire_clock_now();

        faults_slow(2600000);
        run_train(&(run_t){
            .solver = solvers[i], .workers = 3, .timeout = DEADLINE, .solve = true});
        faults_slow(0);
        CHECK(fire_clock_now() - began > 2 * DEADLINE);
    }
}
