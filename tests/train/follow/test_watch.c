/* test_watch.c - a training that follows its own tests keeps the best snapshot, stops
 * early and lowers its rate, on any number of workers and after a resume alike. */
#include <math.h>
#include <unistd.h>

#include "base/alloc.h"
#include "model/text.h"
#include "run.h"

#define SOLVER                                                                 \
    "net: '%s/net.prototxt' lr_policy: 'fixed' max_iter: 40 test_iter: 6 "     \
    "test_interval: 4 snapshot_prefix: '%s/snap' snapshot_after_train: false " \
    "random_seed: 7 "
#define FOLLOWS "fire { lanes: 4 best: 'accuracy' early_stop: 3 } "

static void prepare(void)
{
    run_net("log");
    run_data(60, 1, 12);
}

/* Iterations that the run of worker 0 computed. */
static int64_t iterations(const run_t *r)
{
    int64_t n = 0;

    for (int i = 0; i < 4096; i++)
        run_losses[i] = NAN;
    run_train(r);
    while (n < 4096 && !isnan(run_losses[n]))
        n++;
    return n;
}

static bool is_there(const char *name)
{
    return access(test_path(name), F_OK) == 0;
}

/* With a rate of 0 no test is better than the first: the fourth ends it. */
TEST(training_stops_when_tests_get_no_better)
{
    run_t r = {.solver = SOLVER "base_lr: 0 " FOLLOWS, .workers = 1, .solve = true};

    prepare();
    run_listen();
    CHECK_EQ(iterations(&r), 12);
    CHECK(run_heard("stopping early: in 3 tests accuracy was no better than "));
    CHECK(is_there("snap_best_iter_0.caffemodel"));
    CHECK(is_there("snap_best_iter_0.solverstate"));
}

TEST(several_workers_stop_at_the_same_iteration)
{
    run_t one = {
        .solver = SOLVER "base_lr: 0.02 " FOLLOWS, .workers = 1, .solve = true};
    run_t four = {
        .solver = SOLVER "base_lr: 0.02 " FOLLOWS, .workers = 4, .solve = true};
    int64_t n;

    prepare();
    n = iterations(&one);
    CHECK(n > 0);
    CHECK_EQ(iterations(&four), n);
}

static int64_t best_iter(void)
{
    int64_t found = -1;

    for (int i = 0; i <= 40; i++) {
        char name[64];

        snprintf(name, sizeof(name), "snap_best_iter_%d.solverstate", i);
        if (!is_there(name)) continue;
        CHECK_EQ(found, -1); /* there is one best only */
        found = i;
    }
    return found;
}

TEST(the_best_snapshot_replaces_the_one_before)
{
    run_t r = {.solver  = SOLVER "base_lr: 0.0002 fire { best: 'loss' }",
               .workers = 1,
               .solve   = true};

    prepare();
    run_train(&r);
    CHECK(best_iter() > 0);
}

/* At iteration 12 two tests of three were waited for: one more, and not three. */
TEST(a_resumed_run_goes_on_counting)
{
    run_t whole   = {.solver  = SOLVER "base_lr: 0 snapshot: 4 " FOLLOWS,
                     .workers = 1,
                     .solve   = true};
    run_t resumed = whole;

    resumed.resume = "8";
    prepare();
    CHECK_EQ(iterations(&whole), 12);
    run_listen();
    iterations(&resumed);
    CHECK(run_heard("Iteration 12: stopping early: in 3 tests"));
}

static float last_rate;

static void note_rate(void *arg, const fire_train_event_t *e)
{
    (void)arg;
    if (e->kind == FIRE_TRAIN_ITERATION) last_rate = (float)e->lr;
}

/* Solve alone, *st_p: how it ended. Returns the last rate. */
static float rate_after(const char *solver, fire_status_t *st_p)
{
    fire_trainer_options_t  o = FIRE_TRAINER_OPTIONS_INIT;
    Caffe__SolverParameter *p;
    fire_trainer_t         *t;
    char                    text[4096];
    int n = snprintf(text, sizeof(text), solver, test_tmpdir(), test_tmpdir());

    CHECK_OK(fire_text_parse(text, (size_t)n, "solver",
                             &caffe__solver_parameter__descriptor,
                             (ProtobufCMessage **)&p));
    o.event = note_rate;
    *st_p   = fire_trainer_create(p, &o, &t);
    if (*st_p >= 0) {
        *st_p = fire_trainer_solve(t);
        fire_trainer_destroy(t);
    }
    fire_message_free(p);
    return last_rate;
}

#define PLATEAU                                                              \
    "net: '%s/net.prototxt' base_lr: 1e-30 lr_policy: 'plateau' gamma: 0.5 " \
    "max_iter: 40 test_iter: 6 test_interval: 4 snapshot_prefix: '%s/snap' " \
    "snapshot_after_train: false "

/* Tests at 0, 4 ... 36; after the first, two each lower the rate: at 8, 16, 24, 32. */
TEST(the_rate_drops_where_tests_get_no_better)
{
    fire_status_t st;

    prepare();
    CHECK_NEAR(rate_after(PLATEAU "fire { best: 'loss' patience: 2 }", &st) / 1e-30f,
               1.0 / 16, 1e-6);
    CHECK_OK(st);
    CHECK_NEAR(
        rate_after(PLATEAU "min_lr: 4e-31 fire { best: 'loss' patience: 2 }", &st) /
            1e-30f,
        0.4, 1e-6);
}

/* The training's loss, over one batch again and again: 8 iterations, then 20. */
TEST(the_rate_drops_where_the_loss_gets_no_less)
{
    fire_status_t st;

    prepare();
    run_net_with("log", "batch_size: 16", "batch_size: 60");
    CHECK_NEAR(rate_after("net: '%s/net.prototxt' base_lr: 1e-30 lr_policy: 'plateau' "
                          "gamma: 0.5 plateau_winsize: 8 plateau_winsize: 20 "
                          "max_iter: 40 snapshot_prefix: '%s/snap' "
                          "snapshot_after_train: false",
                          &st) /
                   1e-30f,
               0.25, 1e-6);
    CHECK_OK(st);
}

TEST(what_cannot_be_followed_is_refused)
{
    static const char *const wrong[][2] = {
        {SOLVER "base_lr: 1 fire { best: 'acuracy' }",
         "the test nets have no output \"acuracy\"; they have accuracy, loss"},
        {SOLVER "base_lr: 1 fire { early_stop: 3 }", "early_stop needs best"},
        {"net: '%s/net.prototxt' base_lr: 1 lr_policy: 'fixed' max_iter: 1 "
         "snapshot_prefix: '%s/snap' fire { best: 'loss' }",
         "best: \"loss\" needs a test net"},
        {"net: '%s/net.prototxt' base_lr: 1 lr_policy: 'plateau' gamma: 0.1 max_iter: "
         "1 "
         "snapshot_prefix: '%s/snap'",
         "lr_policy \"plateau\" needs fire { best }"},
        {SOLVER "base_lr: 1 fire { best: 'loss' best_is: 'most' }",
         "unknown best_is \"most\""},
    };

    prepare();
    for (int i = 0; i < 5; i++) {
        fire_status_t st;

        rate_after(wrong[i][0], &st);
        CHECK_FAILS(st, FIRE_ERR_INVALID, wrong[i][1]);
    }
}
