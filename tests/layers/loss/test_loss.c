/* Losses at points that can be checked by hand. Tests src/layers/loss/. */
#include "base/file.h"
#include "layers/bench.h"
#include "model/blob_proto.h"
#include "model/load.h"

/* The top's gradient is the loss weight; the net sets it. */
static void loss_is(bench_t *b, double loss, const char *bottom, floats_t dx)
{
    bench_forward(b);
    CHECK_NEAR(b->loss, loss, 1e-5);
    bench_backward(b);
    bench_diff_is(b, bottom, dx, 1e-5);
    bench_end(b);
}

TEST(euclidean_loss_pulls_both_bottoms)
{
    bench_t b = bench("a:2x2 b:2x2", "loss", "type: \"EuclideanLoss\" loss_weight: 2",
                      CAFFE__PHASE__TRAIN);

    bench_set(&b, "a", FLOATS(1, 2, 3, 4));
    bench_set(&b, "b", FLOATS(1, 1, 1, 1));
    bench_forward(&b);
    CHECK_NEAR(b.loss, 2 * 14.0 / 4, 1e-6);
    bench_backward(&b);
    bench_diff_is(&b, "a", FLOATS(0, 1, 2, 3), 1e-6);
    bench_diff_is(&b, "b", FLOATS(0, -1, -2, -3), 1e-6);
    bench_end(&b);
    BENCH_REFUSES("a:2x2 b:2x3", "loss", "type: \"EuclideanLoss\"",
                  "the bottoms have 4 and 6 elements");
    BENCH_REFUSES("a:2x2 b:3x2", "loss", "type: \"EuclideanLoss\"",
                  "2 items in the first bottom, 3 in the second");
}

TEST(hinge_loss_counts_margins_below_one)
{
    bench_t b = bench("a:2x2 l:2", "loss", "type: \"HingeLoss\"", CAFFE__PHASE__TRAIN);

    bench_set(&b, "a", FLOATS(0.5f, -2, 0, 3));
    bench_set(&b, "l", FLOATS(0, 1));
    loss_is(&b, (0.5 + 0 + 1 + 0) / 2, "a", FLOATS(-0.5f, 0, 0.5f, 0));
    b = bench("a:2x2 l:2", "loss", "type: \"HingeLoss\" hinge_loss_param { norm: L2 }",
              CAFFE__PHASE__TRAIN);
    bench_set(&b, "a", FLOATS(0.5f, -2, 0, 3));
    bench_set(&b, "l", FLOATS(0, 1));
    loss_is(&b, (0.25 + 1) / 2, "a", FLOATS(-0.5f, 0, 1, 0));
    BENCH_REFUSES("a:2x2 l:2x3", "loss", "type: \"HingeLoss\"", "6 labels for 2 items");
}

TEST(multinomial_loss_takes_probabilities)
{
    bench_t b = bench("a:2x2 l:2", "loss", "type: \"MultinomialLogisticLoss\"",
                      CAFFE__PHASE__TRAIN);

    bench_set(&b, "a", FLOATS(0.25f, 0.75f, 0.5f, 0.5f));
    bench_set(&b, "l", FLOATS(0, 1));
    loss_is(&b, (log(4.0) + log(2.0)) / 2, "a", FLOATS(-2, 0, 0, -1));
    BENCH_REFUSES("a:2x2 l:2x2", "loss", "type: \"MultinomialLogisticLoss\"",
                  "4 labels for 2 items");
}

TEST(contrastive_loss_pulls_pairs_of_one_class_and_pushes_others)
{
    bench_t b = bench("a:3x1 b:3x1 s:3", "loss",
                      "type: \"ContrastiveLoss\" contrastive_loss_param { margin: 2 }",
                      CAFFE__PHASE__TRAIN);

    bench_set(&b, "a", FLOATS(3, 1, 9));
    bench_set(&b, "b", FLOATS(0, 0, 0));
    bench_set(&b, "s", FLOATS(1, 0, 0)); /* same, too near, far enough */
    bench_forward(&b);
    CHECK_NEAR(b.loss, (9.0 + 1.0 + 0.0) / 6, 1e-6);
    bench_backward(&b);
    bench_diff_is(&b, "a", FLOATS(1, -1.0f / 3, 0), 1e-4);
    bench_diff_is(&b, "b", FLOATS(-1, 1.0f / 3, 0), 1e-4);
    bench_end(&b);
    b = bench("a:1x1 b:1x1 s:1", "loss",
              "type: \"ContrastiveLoss\" contrastive_loss_param { margin: 5 "
              "legacy_version: true }",
              CAFFE__PHASE__TRAIN);
    bench_set(&b, "a", FLOATS(2));
    bench_set(&b, "b", FLOATS(0));
    bench_set(&b, "s", FLOATS(0));
    loss_is(&b, 0.5, "a", FLOATS(-2));
    BENCH_REFUSES("a:2x2 b:2x2 s:2x2", "loss", "type: \"ContrastiveLoss\"",
                  "4 similarity labels for 2 pairs");
    BENCH_REFUSES("a:2x2 b:2x3 s:2", "loss", "type: \"ContrastiveLoss\"",
                  "the pair has 4 and 6 elements");
}

TEST(sigmoid_cross_entropy_is_stable_for_large_inputs)
{
    bench_t b = bench("a:2x2 t:2x2", "loss", "type: \"SigmoidCrossEntropyLoss\"",
                      CAFFE__PHASE__TRAIN);

    bench_set(&b, "a", FLOATS(0, 100, -100, 1));
    bench_set(&b, "t", FLOATS(1, 1, 1, 0.5f));
    loss_is(&b, (log(2.0) + 0 + 100 + log(1 + exp(1.0)) - 0.5) / 2, "a",
            FLOATS(-0.25f, 0, -0.5f, (1 / (1 + expf(-1)) - 0.5f) / 2));
    BENCH_REFUSES("a:2x2 t:2x3", "loss", "type: \"SigmoidCrossEntropyLoss\"",
                  "the bottoms have 4 and 6 elements");
}

TEST(sigmoid_cross_entropy_leaves_out_ignored_targets)
{
    bench_t b = bench("a:1x2 t:1x2", "loss",
                      "type: \"SigmoidCrossEntropyLoss\" loss_param { ignore_label: 5 "
                      "normalization: VALID }",
                      CAFFE__PHASE__TRAIN);

    bench_set(&b, "a", FLOATS(0, 3));
    bench_set(&b, "t", FLOATS(0, 5));
    loss_is(&b, log(2.0), "a", FLOATS(0.5f, 0));
}

TEST(infogain_loss_weighs_mistakes_by_a_matrix)
{
    bench_t b =
        bench("a:1x2 l:1 h:2x2", "loss", "type: \"InfogainLoss\"", CAFFE__PHASE__TRAIN);

    bench_set(&b, "a", FLOATS(0, 0));
    bench_set(&b, "l", FLOATS(1));
    bench_set(&b, "h", FLOATS(1, 0, 3, 1));
    loss_is(&b, 4 * log(2.0), "a", FLOATS(0.5f * 4 - 3, 0.5f * 4 - 1));
}

static char *save_matrix(int64_t n)
{
    Caffe__BlobProto proto = CAFFE__BLOB_PROTO__INIT;
    Caffe__BlobShape shape = CAFFE__BLOB_SHAPE__INIT;
    float            h[9]  = {1, 0, 3, 1};
    int64_t          dim[] = {n, n};
    char            *path;

    CHECK_OK(fire_asprintf(&path, "%s/h.binaryproto", test_tmpdir()));
    shape.n_dim  = 2;
    shape.dim    = dim;
    proto.shape  = &shape;
    proto.n_data = (size_t)(n * n);
    proto.data   = h;
    CHECK_OK(fire_message_save_binary(path, &proto));
    return path;
}

TEST(infogain_loss_reads_its_matrix_from_a_file)
{
    char   *path = save_matrix(2), *layer;
    bench_t b;

    CHECK_OK(fire_asprintf(
        &layer, "type: \"InfogainLoss\" infogain_loss_param { source: \"%s\" }", path));
    b = bench("a:1x2 l:1", "loss", layer, CAFFE__PHASE__TRAIN);
    bench_set(&b, "a", FLOATS(0, 0));
    bench_set(&b, "l", FLOATS(1));
    loss_is(&b, 4 * log(2.0), "a", FLOATS(-1, 1));
    BENCH_REFUSES("a:1x3 l:1", "loss", layer,
                  "the matrix has 4 elements; 3 classes need 9");
    fire_free(layer);
    fire_free(path);
}

TEST(infogain_loss_says_what_is_missing)
{
    fire_net_t *net;

    BENCH_REFUSES("a:1x2 l:1", "loss", "type: \"InfogainLoss\"",
                  "the matrix is missing");
    BENCH_REFUSES("a:1x2 l:1 h:2x2", "loss",
                  "type: \"InfogainLoss\" loss_param { normalize: true }",
                  "give `normalization`");
    CHECK_FAILS(
        bench_try("a:1x2 l:1", "loss",
                  "type: \"InfogainLoss\" infogain_loss_param { source: \"no\" }",
                  CAFFE__PHASE__TEST, &net),
        FIRE_ERR_IO, "no");
}

TEST(labels_of_every_classifying_loss_are_checked)
{
    static const char *const type[] = {"SoftmaxWithLoss", "HingeLoss",
                                       "MultinomialLogisticLoss", "InfogainLoss",
                                       "Accuracy"};

    for (size_t i = 0; i < sizeof(type) / sizeof(type[0]); i++) {
        static const float wrong[] = {3, -1, NAN, 1e30f};
        bool               matrix  = strcmp(type[i], "InfogainLoss") == 0;
        char               layer[64];
        bench_t            b;

        snprintf(layer, sizeof(layer), "type: \"%s\"", type[i]);
        b = bench(matrix ? "a:2x3 l:2 h:3x3" : "a:2x3 l:2", "loss", layer,
                  CAFFE__PHASE__TEST);
        for (int w = 0; w < 4; w++) {
            bench_set(&b, "l", FLOATS(2, wrong[w]));
            CHECK_FAILS(fire_net_forward(b.net, 0, -1, NULL), FIRE_ERR_INVALID,
                        "of item 1 is none of the 3 classes 0 ... 2");
        }
        bench_end(&b);
    }
}

TEST(l1_loss_pulls_both_bottoms_equally_hard)
{
    bench_t b = bench("a:2x2 b:2x2", "loss", "type: \"L1Loss\"", CAFFE__PHASE__TRAIN);

    bench_set(&b, "a", FLOATS(1, 2, 3, -4));
    bench_set(&b, "b", FLOATS(1, 1, 1, 1));
    bench_forward(&b);
    CHECK_NEAR(b.loss, 8.0 / 2, 1e-6);
    bench_backward(&b);
    bench_diff_is(&b, "a", FLOATS(0, 0.5f, 0.5f, -0.5f), 0);
    bench_diff_is(&b, "b", FLOATS(0, -0.5f, -0.5f, 0.5f), 0);
    bench_end(&b);
    BENCH_REFUSES("a:2x2 b:2x1", "loss", "type: \"L1Loss\"", "4 and 2 elements");
}

TEST(smooth_l1_loss_is_quadratic_near_zero)
{
    bench_t b = bench("a:1x3 b:1x3", "loss",
                      "type: \"SmoothL1Loss\" smooth_l1_loss_param { sigma: 2 }",
                      CAFFE__PHASE__TRAIN);

    bench_set(&b, "a", FLOATS(0.125f, 3, -1));
    bench_set(&b, "b", FLOATS(0, 0, 0));
    loss_is(&b, 0.03125 + (3 - 0.125) + (1 - 0.125), "a", FLOATS(0.5f, 1, -1));
}

TEST(smooth_l1_loss_weighs_inside_and_outside)
{
    bench_t b = bench("a:1x2 b:1x2 in:1x2 out:1x2", "loss", "type: \"SmoothL1Loss\"",
                      CAFFE__PHASE__TRAIN);

    bench_set(&b, "a", FLOATS(0.5f, 2));
    bench_set(&b, "b", FLOATS(0, 0));
    bench_set(&b, "in", FLOATS(0.5f, 1));
    bench_set(&b, "out", FLOATS(4, 3));
    loss_is(&b, 4 * 0.03125 + 3 * 1.5, "a", FLOATS(0.25f * 0.5f * 4, 3));
    /* the first Fast R-CNN: inside weights alone */
    b = bench("a:1x2 b:1x2 in:1x2", "loss", "type: \"SmoothL1Loss\"",
              CAFFE__PHASE__TEST);
    bench_set(&b, "a", FLOATS(0.5f, 4));
    bench_set(&b, "b", FLOATS(0, 0));
    bench_set(&b, "in", FLOATS(2, 0.5f));
    loss_is(&b, 0.5 + 1.5, "a", FLOATS(2, 0.5f));
    BENCH_REFUSES("a:1x2 b:1x2 in:1x2 out:1x3", "loss", "type: \"SmoothL1Loss\"",
                  "3 weights in bottom 3 for 2 predictions");
    BENCH_REFUSES("a:1x2 b:1x2", "loss",
                  "type: \"SmoothL1Loss\" smooth_l1_loss_param { sigma: 0 }",
                  "sigma 0; it must be positive");
}
