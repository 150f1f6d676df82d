/* test_average.c - means of the weights: against sums computed here, the same on several
 * workers and after a resume, in the model beside a snapshot and in tests. */
#include <math.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "model/load.h"
#include "net/net_state.h"
#include "run.h"

#define SOLVER                                                                  \
    "net: '%s/net.prototxt' base_lr: 0.00001 lr_policy: 'fixed' momentum: 0.9 " \
    "max_iter: "                                                                \
    "12 snapshot_prefix: '%s/snap' snapshot: 6 random_seed: 7 "

static double want[64], weights;
static int    added;
static bool   equally;

/* Before each iteration: the first weights of the net, as the mean takes them. */
static fire_status_t sum_up(fire_trainer_t *t)
{
    const float *w;

    CHECK_OK(fire_trainer_sync(t));
    CHECK_OK(fire_blob_read(t->net->learn[0].blob, FIRE_DATA, FIRE_CPU, &w));
    if (t->solver->iter > 2) {
        double share = added == 0 ? 1 : equally ? 1.0 / (added + 1) : 0.25;

        for (int i = 0; i < 36; i++)
            want[i] += share * ((double)w[i] - want[i]);
        added++;
    }
    if (t->solver->iter == 11) {
        const float *mean;

        CHECK_EQ(t->follow.averaged, 9);
        CHECK_OK(fire_blob_read(t->follow.mean[0], FIRE_DATA, FIRE_CPU, &mean));
        for (int i = 0; i < 36; i++)
            CHECK_NEAR(mean[i], want[i], 1e-6);
        weights = (double)w[0];
    }
    return FIRE_OK;
}

static void prepare(void)
{
    run_net("log");
    run_data(60, 1, 12);
}

static void check_mean(const char *solver, bool is_equal)
{
    memset(want, 0, sizeof(want));
    added   = 0;
    equally = is_equal;
    run_train(&(run_t){.solver = solver, .workers = 1, .before = sum_up});
    CHECK_STR(run_errors[0], "");
    CHECK_EQ(added, 9);
    CHECK(fabs(weights - want[0]) > 1e-9); /* the mean is something else */
}

TEST(means_are_of_the_weights_after_each_iteration)
{
    prepare();
    check_mean(SOLVER "fire { average: 'ema' average_decay: 0.75 average_from: 3 }",
               false);
    check_mean(SOLVER "fire { average: 'swa' average_from: 3 }", true);
}

/* The bytes of a file of the test's directory. */
static uint64_t hash_of(const char *name)
{
    char    *bytes;
    size_t   n;
    uint64_t h = 14695981039346656037u;

    CHECK_OK(fire_file_read(test_path(name), &bytes, &n));
    for (size_t i = 0; i < n; i++)
        h = (h ^ (unsigned char)bytes[i]) * 1099511628211u;
    fire_free(bytes);
    return h;
}

#define EMA \
    SOLVER "fire { lanes: 4 average: 'ema' average_decay: 0.9 average_every: 2 }"

TEST(workers_and_resumed_runs_average_to_the_same_bits)
{
    run_t    one = {.solver = EMA, .workers = 1, .solve = true}, four = one;
    run_t    resumed = {.solver = EMA, .workers = 2, .solve = true, .resume = "6"};
    uint64_t model, mean;

    four.workers = 4;
    prepare();
    run_train(&one);
    model = hash_of("snap_iter_12.caffemodel");
    mean  = hash_of("snap_iter_12.average.caffemodel");
    CHECK(model != mean);
    run_train(&four);
    CHECK_EQ(hash_of("snap_iter_12.average.caffemodel"), mean);
    CHECK(remove(test_path("snap_iter_12.average.caffemodel")) == 0);
    run_train(&resumed);
    CHECK_EQ(hash_of("snap_iter_12.caffemodel"), model);
    CHECK_EQ(hash_of("snap_iter_12.average.caffemodel"), mean);
}

static double tested;

static void note_test(void *arg, const fire_train_event_t *e)
{
    (void)arg;
    if (e->kind == FIRE_TRAIN_TEST && strcmp(e->name, "loss") == 0) tested = e->value;
}

/* A trainer of the solver file; weights from a model, or by training. */
static double test_loss(const char *more, const char *model)
{
    fire_trainer_options_t  o = FIRE_TRAINER_OPTIONS_INIT;
    char                    text[2048];
    Caffe__SolverParameter *p;
    fire_trainer_t         *t;

    snprintf(text, sizeof(text), SOLVER "test_iter: 4 test_interval: 100 %s",
             test_tmpdir(), test_tmpdir(), more);
    run_file("solver.prototxt", text);
    CHECK_OK(fire_solver_param_load(test_path("solver.prototxt"), &p));
    o.event = note_test;
    CHECK_OK(fire_trainer_create(p, &o, &t));
    if (model == NULL)
        CHECK_OK(fire_trainer_solve(t));
    else
        CHECK_OK(fire_trainer_load_weights(t, test_path(model)));
    CHECK_OK(fire_trainer_set_iter(t, 0)); /* the same batches */
    CHECK_OK(fire_trainer_test(t, 0));
    fire_trainer_destroy(t);
    fire_message_free(p);
    return tested;
}

TEST(tests_use_the_means_and_leave_the_weights_alone)
{
    double mean, of_model, of_weights;

    prepare();
    mean       = test_loss("fire { average: 'ema' average_decay: 0.9 }", NULL);
    of_model   = test_loss("", "snap_iter_12.average.caffemodel");
    of_weights = test_loss("", "snap_iter_12.caffemodel");
    CHECK_EQ(mean, of_model);
    CHECK(mean != of_weights);
    CHECK_EQ(test_loss("", NULL), of_weights);
}
