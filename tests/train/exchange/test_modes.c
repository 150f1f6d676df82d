/* test_modes.c - every way of exchanging gradients trains, and what is lost on the wire
 * is not lost for good. Tests src/train/exchange/. */
#include "run.h"

#include "model/load.h"

#define SOLVER                                                               \
    "net: '%s/net.prototxt' base_lr: 0.02 lr_policy: 'fixed' momentum: 0.9 " \
    "max_iter: 30 snapshot_prefix: '%s/snap' random_seed: 7 "

static void prepare(void)
{
    run_data(96, 1, 8);
    run_net("modes");
}

static uint64_t train(int workers, const char *more, run_t r)
{
    static char solver[2048];

    snprintf(solver, sizeof(solver), "%s %s", SOLVER, more);
    r.solver  = solver;
    r.workers = workers;
    return run_train(&r);
}

static double mean_loss(int first)
{
    double sum = 0;

    for (int i = first; i < first + 4; i++) /* an epoch */
        sum += run_losses[i] / 4;
    return sum;
}

TEST(every_algorithm_trains_with_every_compression)
{
    static const char *const codec[] = {"none", "fp16", "bf16", "1bit",
                                        "threshold=0.01"};

    prepare();
    for (int a = 0; fire_algo_at(a) != NULL; a++) {
        if (fire_algo_at(a)->flags & FIRE_ALGO_NATIVE) continue; /* of MPI */
        for (int c = 0; c < 5; c++) {
            char more[200];

            snprintf(
                more, sizeof(more),
                "fire { bucket_mb: 0.002 comm: '%s' compress: '%s' compress_from: 4 }",
                fire_algo_at(a)->name, codec[c]);
            train(3, more, (run_t){0});
            if (!(mean_loss(26) < 0.5 * mean_loss(0)))
                test_fail(__FILE__, __LINE__, "%s: loss %g, then %g", more,
                          mean_loss(0), mean_loss(26));
        }
    }
}

TEST(a_sharded_update_works_with_compression)
{
    prepare();
    train(4, "fire { update: 'sharded' compress: 'bf16' }", (run_t){0});
    CHECK(mean_loss(26) < 0.5 * mean_loss(0));
}

/* Weights do not depend on who updates them; also where the parts of the gradients and
 * of the weights could be cut differently. */
TEST(sharded_and_replicated_updates_agree)
{
    static const char *const mode[] = {
        "lanes: 4 comm: 'auto'",
        "comm: 'direct' compress: 'bf16'",
        "comm: 'direct' compress: '1bit' compress_from: 15",
        "comm: 'auto' compress: '1bit' compress_from: 15",
    };

    prepare();
    for (int i = 0; i < 4; i++) {
        char     more[200];
        uint64_t whole;

        snprintf(more, sizeof(more), "fire { %s }", mode[i]);
        whole = train(4, more, (run_t){0});
        snprintf(more, sizeof(more), "fire { update: 'sharded' %s }", mode[i]);
        if (train(4, more, (run_t){0}) != whole)
            test_fail(__FILE__, __LINE__, "%s: other bits", mode[i]);
    }
}

/* The model that a run of one iteration leaves. */
static Caffe__NetParameter *model_after_one(const char *fire)
{
    char                 more[200], path[600];
    Caffe__NetParameter *model;

    snprintf(more, sizeof(more), "snapshot: 1 %s", fire);
    train(2, more, (run_t){.solve = true});
    snprintf(path, sizeof(path), "%s/snap_iter_1.caffemodel", test_tmpdir());
    CHECK_OK(fire_net_param_load_weights(path, &model));
    return model;
}

TEST(running_statistics_are_never_rounded)
{
    Caffe__NetParameter *exact, *coded;
    Caffe__BlobProto    *a, *b;

    prepare();
    exact = model_after_one("fire { compress: 'none' }");
    coded = model_after_one("fire { compress: '1bit' compress_from: 0 }");
    CHECK_STR(exact->layer[2]->type, "BatchNorm");
    for (int k = 0; k < 3; k++) {
        a = exact->layer[2]->blobs[k];
        b = coded->layer[2]->blobs[k];
        CHECK(memcmp(a->data, b->data, a->n_data * sizeof(float)) == 0);
    }
    a = exact->layer[1]->blobs[0];
    b = coded->layer[1]->blobs[0];
    CHECK(memcmp(a->data, b->data, a->n_data * sizeof(float)) != 0);
    fire_message_free(exact);
    fire_message_free(coded);
}

TEST(one_bit_leaves_the_first_iterations_alone)
{
    prepare();
    CHECK(train(2, "fire { compress: '1bit' }", (run_t){0}) ==
          train(2, "fire { compress: 'none' }", (run_t){0}));
    CHECK(train(2, "fire { compress: '1bit' compress_from: 20 }", (run_t){0}) !=
          train(2, "fire { compress: 'none' }", (run_t){0}));
}

#define CODED "snapshot: 11 fire { compress: '1bit' compress_from: 5 comm: 'ring' }"

TEST(error_feedback_goes_on_where_a_snapshot_left_it)
{
    uint64_t whole;

    prepare();
    whole = train(3, CODED, (run_t){.solve = true});
    CHECK(train(3, CODED, (run_t){.resume = "11"}) == whole);
}

TEST(error_feedback_of_other_workers_is_left_behind_with_a_warning)
{
    prepare();
    train(3, CODED, (run_t){.solve = true});
    run_listen();
    train(2, CODED, (run_t){.resume = "11"});
    CHECK(run_heard("error feedback is of 3 workers"));
    CHECK(mean_loss(26) < mean_loss(11));
}

/* ---- bytes on the wire ---- */

static int64_t sent; /* by worker 0, in the iterations before the last */

static fire_status_t count_bytes(fire_trainer_t *t)
{
    if (fire_trainer_rank(t) > 0 || t->solver->iter != 29) return FIRE_OK;
    FIRE_TRY(fire_trainer_sync(t));
    sent = fire_exchange_account(fire_reducer_engine(t->reducer)).bytes / 29 -
           t->grads->head * (int64_t)sizeof(float); /* which is never compressed */
    return FIRE_OK;
}

static int64_t bytes_with(const char *codec)
{
    char more[200];

    snprintf(more, sizeof(more),
             "fire { comm: 'ring' compress: '%s' compress_from: 0 }", codec);
    train(2, more, (run_t){.before = count_bytes});
    return sent;
}

TEST(compressed_gradients_are_fewer_bytes)
{
    int64_t whole;

    prepare();
    whole = bytes_with("none");
    CHECK(whole > 0);
    CHECK_EQ(bytes_with("fp16"), whole / 2);
    CHECK_EQ(bytes_with("bf16"), whole / 2);
    CHECK(bytes_with("1bit") < whole / 28);
    CHECK(bytes_with("threshold=0.01") < whole);
}
