/* test_gpu.c - training on a GPU: what only it can get wrong. Tests src/train/gpu/. */
#include "run.h"

#include <stdlib.h>
#include <string.h>

#include "gpu.h"
#include "net/net_state.h"
#include "solver/update.h"

#define SOLVER                                                               \
    "net: '%s/net.prototxt' base_lr: 0.02 lr_policy: 'fixed' momentum: 0.9 " \
    "display: 5 max_iter: 30 snapshot: 10 snapshot_prefix: '%s/snap' random_seed: 7 "

static void prepare(void)
{
    if (!test_on_gpu()) test_skip("this is about GPUs: run it with --gpu");
    run_data(96, 1, 6);
    run_net("gpu");
}

static bool is_emulated(void)
{
    char text[256];

    CHECK_OK(fire_gpu_describe(0, text, sizeof(text)));
    return strstr(text, "emulated") != NULL;
}

static fire_status_t nothing(fire_trainer_t *t)
{
    (void)t;
    return FIRE_OK;
}

TEST(a_wrong_label_is_an_error_that_names_layer_and_label)
{
    prepare();
    run_net_with("gpu", "num_output: 10", "num_output: 5");
    run_train(
        &(run_t){.solver = SOLVER, .workers = 1, .gpu = "fp32", .before = nothing});
    CHECK(strstr(run_errors[0], "layer \"loss\": label ") != NULL);
    CHECK(strstr(run_errors[0], "is none of the 5 classes 0 ... 4") != NULL);
}

TEST(a_wrong_index_is_an_error_that_names_layer_and_index)
{
    prepare();
    run_net("embed");
    run_train(
        &(run_t){.solver = SOLVER, .workers = 1, .gpu = "fp32", .before = nothing});
    CHECK(strstr(run_errors[0], "layer \"embed\": index 7; it must be from 0 to 4") !=
          NULL);
}

TEST(losses_are_told_one_by_one_where_the_host_runs_ahead)
{
    double ahead[30];

    prepare();
    run_train(&(run_t){.solver = SOLVER, .workers = 1, .gpu = "fp32", .solve = true});
    memcpy(ahead, run_losses, sizeof(ahead));
    run_train(&(run_t){.solver = SOLVER, .workers = 1, .gpu = "fp32"});
    for (int i = 0; i < 30; i++)
        CHECK(ahead[i] == run_losses[i]);
}

TEST(too_large_a_batch_is_an_error_that_says_what_would_fit)
{
    prepare();
    if (!is_emulated()) test_skip("a real GPU has memory enough");
    setenv("EMULATOR_MEMORY", "50000", 1);
    run_train(
        &(run_t){.solver = SOLVER, .workers = 1, .gpu = "fp32", .before = nothing});
    unsetenv("EMULATOR_MEMORY");
    CHECK(strstr(run_errors[0], "out of GPU memory: weights need") != NULL);
    CHECK(strstr(run_errors[0], "images would fit") != NULL);
}

/* Scratch memory is freed before larger memory is asked for, also if that fails. */
TEST(a_recording_does_not_outlive_the_scratch_memory_it_uses)
{
    fire_update_t  few = {.n = 1 << 10}, many = {.n = 1 << 30};
    fire_stream_t *s;
    int64_t        recorded;
    double         sum;
    void          *g;

    if (!test_on_gpu()) test_skip("this is about GPUs: run it with --gpu");
    s = test_ctx().stream;
    if (!is_emulated()) test_skip("a real GPU has memory enough");
    CHECK_OK(fire_device_find(FIRE_GPU)->alloc(few.n * sizeof(float), &g));
    few.g = many.g = g;
    CHECK_OK(fire_update_squares_gpu(s, &few, 1, &sum));
    CHECK_EQ(sum, 0);
    recorded = fire_gpu_generation(s);
    setenv("EMULATOR_MEMORY", "50000", 1);
    CHECK_FAILS(fire_update_squares_gpu(s, &many, 1, &sum), FIRE_ERR_NOMEM,
                "out of GPU memory");
    unsetenv("EMULATOR_MEMORY");
    CHECK(fire_gpu_generation(s) != recorded);
    fire_device_find(FIRE_GPU)->free(g);
}

static double mean_loss(int first)
{
    double sum = 0;

    for (int i = first; i < first + 4; i++) /* an epoch */
        sum += run_losses[i] / 4;
    return sum;
}

TEST(fp16_learns_like_fp32_and_shows_its_scale)
{
    double fp32;

    prepare();
    run_train(&(run_t){.solver = SOLVER, .workers = 1, .gpu = "fp32", .solve = true});
    fp32 = mean_loss(26);
    CHECK(fp32 < mean_loss(0));
    run_listen();
    run_train(&(run_t){.solver = SOLVER, .workers = 1, .gpu = "fp16", .solve = true});
    CHECK(run_heard("loss scale = 65536"));
    CHECK_NEAR(mean_loss(26), fp32, 0.02);
}

static float read_scale(const fire_trainer_t *t)
{
    float scale;
    int   good;

    CHECK_OK(fire_gpu_get_scale(t->net->ctx.stream, &scale, &good));
    return scale;
}

static fire_status_t read_first_weight(const fire_trainer_t *t, float *w_p)
{
    const float *w;

    FIRE_TRY(fire_blob_read(t->net->learn[0].blob, FIRE_DATA, FIRE_CPU, &w));
    *w_p = *w;
    return FIRE_OK;
}

/* A scale that makes every gradient overflow: no weight moves until it has shrunk. */
static fire_status_t watch_overflow(fire_trainer_t *t)
{
    static float before;
    float        now;

    if (t->solver->iter == 0)
        FIRE_TRY(fire_gpu_set_scale(t->net->ctx.stream, 0x1p24f, 0));
    FIRE_TRY(fire_trainer_sync(t));
    FIRE_TRY(read_first_weight(t, &now));
    if (t->solver->iter == 1) {
        CHECK_EQ(now, before);
        CHECK_EQ(read_scale(t), 0x1p23f);
    }
    if (t->solver->iter == 29) {
        CHECK(now != before);
        CHECK(read_scale(t) < 0x1p23f);
    }
    if (t->solver->iter == 0) before = now;
    return FIRE_OK;
}

TEST(steps_that_overflow_change_nothing_but_the_scale)
{
    prepare();
    run_train(&(run_t){
        .solver = SOLVER, .workers = 1, .gpu = "fp16", .before = watch_overflow});
    CHECK_STR(run_errors[0], "");
}

TEST(fp16_goes_on_from_a_snapshot_exactly)
{
    run_t    r = {.solver = SOLVER, .workers = 1, .gpu = "fp16", .solve = true};
    uint64_t whole;

    prepare();
    whole    = run_train(&r);
    r.resume = "20";
    CHECK(run_train(&r) == whole);
}

TEST(two_workers_decide_alike_in_fp16)
{
    double alone;

    prepare();
    run_train(&(run_t){.solver = SOLVER, .workers = 1, .gpu = "fp16"});
    alone = mean_loss(26);
    run_train(&(run_t){.solver = SOLVER, .workers = 2, .gpu = "fp16"});
    CHECK_NEAR(mean_loss(26), alone, 0.3); /* statistics are of half the batch */
}

/* Sums come back in the engine's thread while products run in the side queue. The
 * emulator takes too long to try it often. */
TEST(workers_that_share_a_gpu_agree_each_time)
{
    const run_t r = {.solver  = SOLVER "fire { comm: 'ring' overlap: 'thread' }",
                     .workers = 2,
                     .gpu     = "fp32"};
    uint64_t    first;

    prepare();
    first = run_train(&r); /* looks at both */
    for (int i = 0; i < (is_emulated() ? 1 : 5); i++)
        CHECK(run_train(&r) == first);
}

TEST(nccl_sums_what_our_own_algorithms_sum)
{
    uint64_t    ours, theirs;
    const char *why;

    prepare();
    ours = run_train(&(run_t){
        .solver = SOLVER "fire { comm: 'ring' }", .workers = 2, .gpu = "fp32"});
    /* The emulator has as many as one asks for. */
    if (!is_emulated() && fire_gpu_count(&why) < 2)
        test_skip("NCCL wants a GPU for each worker");
    theirs = run_train(&(run_t){
        .solver = SOLVER "fire { comm: 'nccl' }", .workers = 2, .gpu = "fp32"});
    CHECK(theirs == ours); /* the sum of two has one order */
}

TEST(workers_go_without_nccl_where_it_fails_for_one)
{
    prepare();
    if (!is_emulated()) test_skip("NCCL works here");
    setenv("EMULATOR_NO_NETWORK", "1", 1);
    run_listen();
    run_train(&(run_t){.solver = SOLVER, .workers = 2, .gpu = "fp32"});
    unsetenv("EMULATOR_NO_NETWORK");
    CHECK(run_heard("Gradients go by the host: NCCL: "));
}

TEST(one_worker_with_nccl_is_as_one_without)
{
    run_t    r = {.solver = SOLVER, .workers = 1, .gpu = "fp32"};
    uint64_t without;

    prepare();
    without  = run_train(&r);
    r.solver = SOLVER "fire { comm: 'nccl' bucket_mb: 0.001 }";
    CHECK(run_train(&r) == without);
    r.solver = SOLVER;
    r.gpu    = "fp16";
    without  = run_train(&r);
    r.solver = SOLVER "fire { comm: 'nccl' }";
    CHECK(run_train(&r) == without);
}
