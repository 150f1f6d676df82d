/* test_identity.c - what docs/design/0002-lanes.md promises: with a given number of
 * lanes, results are the same to the last bit on any number of workers, with any
 * canonical exchange, also after a stop and a resume elsewhere. Tests src/train/iterate.c
 * and src/train/scalars.c. */
#include "run.h"

#define PLACE                                                                      \
    "net: '%s/net.prototxt' base_lr: 0.01 lr_policy: 'fixed' weight_decay: 0.001 " \
    "max_iter: 30 snapshot_prefix: '%s/snap' random_seed: 7 "
#define SOLVER PLACE "momentum: 0.9 "

static void prepare(const char *net)
{
    run_data(100, 3, 12);
    run_net(net);
}

static void check_same(uint64_t want, int workers, const char *fire)
{
    char  solver[2048];
    run_t r = {.solver = solver, .workers = workers};

    snprintf(solver, sizeof(solver), "%s fire { lanes: 8 bucket_mb: 0.004 %s }", SOLVER,
             fire);
    if (run_train(&r) != want)
        test_fail(__FILE__, __LINE__, "%d workers, %s: other bits", workers, fire);
}

static uint64_t on_one(void)
{
    run_t r = {.solver = SOLVER "fire { lanes: 8 }", .workers = 1};

    return run_train(&r);
}

static void check_all_modes(void)
{
    static const char *const modes[] = {
        "comm: 'tree' overlap: 'thread'",
        "comm: 'rhd' overlap: 'poll'",
        "comm: 'rhd' overlap: 'off' update: 'sharded'",
        "comm: 'tree' overlap: 'thread' update: 'sharded'",
        "comm: 'direct' overlap: 'poll' lane_weights: '3,1,2'",
        "lane_weights: '1,2,1,3'",
        "lane_weights: 'auto' update: 'sharded'",
    };
    uint64_t want = on_one();

    for (int workers = 2; workers <= 8; workers++)
        for (int m = 0; m < (int)(sizeof(modes) / sizeof(modes[0])); m++)
            check_same(want, workers, modes[m]);
}

TEST(a_plain_net_gives_the_same_bits_on_1_to_8_workers)
{
    prepare("plain");
    check_all_modes();
}

TEST(batchnorm_dropout_crops_and_shuffling_give_the_same_bits_too)
{
    prepare("tempting");
    check_all_modes();
}

/* The weights' hash, on one, two and four workers, each with other decode threads. */
TEST(augmented_images_give_the_same_bits_on_1_2_and_4_workers)
{
    uint64_t want;

    prepare("augmented");
    want = on_one();
    check_same(want, 2, "comm: 'tree' overlap: 'thread'");
    check_same(want, 4, "comm: 'rhd' overlap: 'off'");
}

TEST(the_number_of_lanes_does_matter_so_the_comparison_can_fail)
{
    run_t r = {.solver = SOLVER "fire { lanes: 4 }", .workers = 1};

    prepare("tempting");
    CHECK(run_train(&r) != on_one());
}

TEST(every_solver_clipping_iter_size_and_layer_rates_give_the_same_bits)
{
    static const char *const rule[] = {
        "type: 'Nesterov' momentum: 0.9 iter_size: 2",
        "type: 'Adam' momentum: 0.9 clip_gradients: 0.5",
        "type: 'AdaGrad' iter_size: 3 clip_gradients: 0.1",
        "type: 'RMSProp'",
        "type: 'AdaDelta' momentum: 0.9 regularization_type: 'L1'",
        "type: 'AdamW' momentum: 0.9",
    };
    static const char *const adapt[] = {"lars", "none", "larc", "lars", "none", "none"};

    prepare("tempting");
    for (int i = 0; i < 6; i++) {
        static char one[2048], many[2048];
        run_t       alone  = {.solver = one, .workers = 1};
        run_t       team   = {.solver = many, .workers = 4};
        run_t       uneven = {.solver = many, .workers = 3 + 2 * (i % 3)};
        uint64_t    want;

        snprintf(one, sizeof(one), "%s %s fire { lanes: 8 adapt: '%s' }", PLACE,
                 rule[i], adapt[i]);
        snprintf(many, sizeof(many),
                 "%s %s fire { lanes: 8 update: 'sharded' comm: 'tree' adapt: '%s' }",
                 PLACE, rule[i], adapt[i]);
        want = run_train(&alone);
        if (want != run_train(&team))
            test_fail(__FILE__, __LINE__, "%s: other bits on 4 workers", rule[i]);
        if (want != run_train(&uneven))
            test_fail(__FILE__, __LINE__, "%s: other bits on %d workers", rule[i],
                      uneven.workers);
    }
}

/* Batches of 16: lanes of two or three images. */
TEST(lanes_that_are_no_power_of_two_give_the_same_bits)
{
    static const int lanes[] = {3, 5, 6, 7, 12};

    prepare("tempting");
    for (int i = 0; i < 5; i++) {
        char     solver[2048];
        run_t    r    = {.solver = solver, .workers = 1};
        uint64_t want = 0;

        for (int workers = 1; workers <= lanes[i] && workers <= 7; workers++) {
            uint64_t got;

            snprintf(solver, sizeof(solver),
                     "%s fire { lanes: %d bucket_mb: 0.004 comm: '%s' }", SOLVER,
                     lanes[i], workers % 2 ? "rhd" : "tree");
            r.workers = workers;
            got       = run_train(&r);
            if (workers == 1) want = got;
            if (got != want)
                test_fail(__FILE__, __LINE__, "%d lanes on %d workers: other bits",
                          lanes[i], workers);
        }
    }
}

/* What a worker sends is rounded, so the bits belong to a number of workers. */
TEST(compressed_gradients_of_uneven_lanes_are_the_same_on_every_run)
{
    run_t    r = {.solver  = SOLVER "fire { lanes: 8 compress: 'bf16' comm: 'rhd' }",
                  .workers = 3};
    uint64_t first;

    prepare("plain");
    first = run_train(&r);
    CHECK(run_train(&r) == first);
    CHECK(first != on_one());
}

TEST(a_run_resumed_with_a_worker_less_and_two_more_ends_with_the_same_bits)
{
    static char solver[2048];
    run_t       first = {.solver = solver, .workers = 4, .solve = true};
    run_t       less  = {.solver = solver, .workers = 3, .resume = "11", .solve = true};
    run_t       more  = {.solver = solver, .workers = 5, .resume = "22"};
    uint64_t    want;

    prepare("tempting");
    want = on_one();
    snprintf(solver, sizeof(solver),
             "%s snapshot: 11 fire { lanes: 8 comm: 'rhd' update: 'sharded' }", SOLVER);
    CHECK(run_train(&first) == want);
    CHECK(run_train(&less) == want);
    CHECK(run_train(&more) == want);
}
