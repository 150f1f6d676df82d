/* test_faults.c - workers that fail, hang, or only take their time. Tests
 * src/train/trainer.c. */
#include "run.h"

#include <unistd.h>

#include "base/clock.h"

enum { BAD = 1, WORKERS = 3 };

#define DEADLINE 1.5
#define SOLVER                                                             \
    "net: '%s/net.prototxt' base_lr: 0.01 lr_policy: 'fixed' max_iter: 8 " \
    "snapshot_prefix: '%s/snap' fire { bucket_mb: 0.0001 deadline: 1.5 overlap: '"

static const char *const solvers[] = {SOLVER "thread' }", SOLVER "poll' }"};

static bool is_its_moment(const fire_trainer_t *t)
{
    return fire_trainer_rank(t) == BAD && t->solver->iter == 3;
}

static double run_with(fire_status_t (*before)(fire_trainer_t *), int how)
{
    double began = fire_clock_now();

    run_net("six");
    run_train(&(run_t){.solver  = solvers[how],
                       .workers = WORKERS,
                       .timeout = DEADLINE,
                       .before  = before});
    return fire_clock_now() - began;
}

static fire_status_t compute_for_long(fire_trainer_t *t)
{
    for (int i = 0; i < 70 && is_its_moment(t); i++) {
        FIRE_TRY(fire_trainer_beat(t)); /* as between layers */
        usleep(50000);
    }
    return FIRE_OK;
}

TEST(a_worker_that_computes_for_long_is_waited_for)
{
    for (int how = 0; how < 2; how++) {
        CHECK(run_with(compute_for_long, how) > 2 * DEADLINE);
        for (int r = 0; r < WORKERS; r++)
            CHECK_STR(run_errors[r], "");
    }
}

static fire_status_t hang(fire_trainer_t *t)
{
    if (is_its_moment(t)) usleep(3500000);
    return FIRE_OK;
}

TEST(a_worker_that_hangs_is_named_by_the_others)
{
    for (int how = 0; how < 2; how++) {
        run_listen();
        run_with(hang, how);
        CHECK(run_heard("no word from rank 1 ("));
        for (int r = 0; r < WORKERS; r += 2)
            if (strstr(run_errors[r], "no word from rank 1 (") == NULL)
                test_fail(__FILE__, __LINE__, "worker %d: \"%s\"", r, run_errors[r]);
    }
}

static fire_status_t fail(fire_trainer_t *t)
{
    if (is_its_moment(t)) return FIRE_FAIL(FIRE_ERR_IO, "disk on fire");
    return FIRE_OK;
}

TEST(a_worker_that_fails_ends_the_others_at_once)
{
    for (int how = 0; how < 2; how++) {
        run_with(fail, how);
        CHECK_STR(run_errors[BAD], "disk on fire");
        for (int r = 0; r < WORKERS; r += 2)
            CHECK_STR(run_errors[r], "rank 1: disk on fire");
    }
}
