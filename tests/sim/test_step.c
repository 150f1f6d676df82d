/* Seconds of a training step, in cases that can be counted by hand. */
#include "sim/step.h"
#include "test.h"

/* Two layers of 1 s forward and 2 s backward each; a bucket takes `wire` seconds. */
static fire_cluster_t machine = {
    .per_node   = 1,
    .cores_each = 1,
    .compute    = {.flops = 1, .bandwidth = 1, .update = 1e9}};
static fire_layer_cost_t work[2] = {{.flops = 1, .weights = 8},
                                    {.flops = 1, .weights = 8}};

static fire_cost_curve_t constant(double wire)
{
    fire_cost_curve_t t = {.bytes = {1, 2, 3, 4}};

    for (int i = 0; i < FIRE_COST_CURVE_POINTS; i++)
        t.price[i] = (fire_price_t){wire, 100, 1};
    return t;
}

static fire_step_times_t replay(double wire, double bucket, bool overlap)
{
    fire_cost_curve_t t = constant(wire);
    fire_step_setup_t s = {.cluster = &machine,
                           .curve   = &t,
                           .load    = {.work = work, .nlayer = 2},
                           .workers = 2,
                           .batch   = 2,
                           .bucket  = bucket,
                           .overlap = overlap};
    fire_step_times_t times;

    CHECK_OK(fire_step_replay(&s, &times));
    return times;
}

TEST(a_blocking_exchange_adds_all_its_time)
{
    fire_step_times_t t = replay(1, 0, false);

    CHECK_NEAR(t.compute, 6, 1e-6);
    CHECK_NEAR(t.comm, 1, 1e-6);
    CHECK_NEAR(t.exposed, 1, 1e-6);
    CHECK_NEAR(t.total, 7, 1e-6);
    t = replay(1, 8, false);
    CHECK_NEAR(t.total, 8, 1e-6);
    CHECK_NEAR(t.bytes, 200, 1e-6);
}

/* The upper layer's bucket hides behind the lower one's backward; only the lower
 * one's is waited for. */
TEST(overlap_hides_what_backward_covers)
{
    fire_step_times_t t = replay(1, 8, true);

    CHECK_NEAR(t.comm, 2, 1e-6);
    CHECK_NEAR(t.exposed, 1, 1e-6);
    CHECK_NEAR(t.total, 7, 1e-6);
    /* Too slow to hide: upper ready at 4, done at 9; lower ready at 6, done at 14. */
    t = replay(5, 8, true);
    CHECK_NEAR(t.total, 6 + 8, 1e-6);
}

TEST(input_that_comes_too_slowly_sets_the_pace)
{
    machine.compute.input = 0.1;
    CHECK(replay(1, 0, false).starved);
    CHECK_NEAR(replay(1, 0, false).total, 10, 1e-6);
    machine.compute.input = 0;
}

TEST(a_small_batch_runs_below_the_full_rate)
{
    fire_load_t load = {.work = work, .nlayer = 2};

    machine.compute.half_batch = 8;
    CHECK_NEAR(fire_step_compute(&machine, &load, 8),
               2 * 8 * fire_step_compute(&machine, &load, 1) / 9, 1e-9);
    machine.compute.half_batch = 0;
}

TEST(more_workers_than_samples_are_refused)
{
    fire_cost_curve_t t = constant(1);
    fire_step_setup_t s = {.cluster = &machine,
                           .curve   = &t,
                           .load    = {.work = work, .nlayer = 2},
                           .workers = 4,
                           .batch   = 2};
    fire_step_times_t times;

    CHECK_FAILS(fire_step_replay(&s, &times), FIRE_ERR_INVALID, "without a sample");
}

/* Measured at 4 samples: 5 s forward and 7 s backward a layer; at 8: 9 s and 13 s; and
 * a second between layers. */
TEST(measured_times_replace_arithmetic_and_lie_on_a_line)
{
    static const double few[] = {5, 5}, few_back[] = {7, 7};
    static const double many[] = {9, 9}, many_back[] = {13, 13};
    fire_timing_t       timing[] = {{4, few, few_back, 1}, {8, many, many_back, 1}};
    fire_load_t         load     = {work, 2, timing, 2};

    CHECK_NEAR(fire_step_compute(&machine, &load, 4), 2 * 12 + 1, 1e-9);
    CHECK_NEAR(fire_step_compute(&machine, &load, 6), 2 * 17 + 1, 1e-9);
    CHECK_NEAR(fire_step_compute(&machine, &load, 12), 2 * 32 + 1, 1e-9);
    load.ntiming = 1;
    CHECK_NEAR(fire_step_compute(&machine, &load, 8), 2 * 24 + 1, 1e-9);
}

TEST(workers_that_wait_for_the_slowest_take_longer_than_one_alone)
{
    static const double one[] = {1, 1}, two[] = {2, 2};
    fire_timing_t       timing = {.batch = 1, one, two, .meeting = 0.5};
    fire_cost_curve_t   t      = constant(1);
    fire_step_setup_t   s      = {.cluster = &machine,
                                  .curve   = &t,
                                  .load    = {work, 2, &timing, 1},
                                  .workers = 2,
                                  .batch   = 2};
    fire_step_times_t   times;

    CHECK_OK(fire_step_replay(&s, &times));
    CHECK_NEAR(times.compute, 6.5, 1e-6);
    CHECK_NEAR(times.total, 7.5, 1e-6);
    s.workers = s.batch = 1;
    CHECK_OK(fire_step_replay(&s, &times));
    CHECK_NEAR(times.compute, 6, 1e-6);
}

TEST(workers_that_share_cores_take_longer_and_hide_nothing)
{
    fire_step_times_t t;

    machine.per_node = 2;
    machine.cores    = 2; /* enough, but none is left for the exchange */
    t                = replay(1, 8, true);
    CHECK_NEAR(t.total, 6 + 2, 1e-6);
    machine.cores = 1;
    t             = replay(1, 8, true);
    CHECK_NEAR(t.compute, 12, 1e-6);
    CHECK_NEAR(t.total, 12 + 2, 1e-6);
    machine.cores    = 0;
    machine.per_node = 1;
}

/* Two buckets of 1 s, updates of 1 s: a sum goes on during the update before it, 2 + 1,
 * unless both want the same core, 2 + 2. */
TEST(on_a_full_node_sums_and_updates_take_turns)
{
    machine.compute.update = 8;
    CHECK_NEAR(replay(1, 8, false).total, 6 + 3, 1e-6);
    machine.per_node = machine.cores = 2;
    CHECK_NEAR(replay(1, 8, false).total, 6 + 4, 1e-6);
    machine.per_node       = 1;
    machine.cores          = 0;
    machine.compute.update = 1e9;
}
