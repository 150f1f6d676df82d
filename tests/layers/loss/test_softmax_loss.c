/* SoftmaxWithLoss: how it divides, what it ignores, what it refuses. */
#include <float.h>

#include "layers/bench.h"
#include "layers/loss/loss.h"

static bench_t spatial(const char *loss_param)
{
    char    layer[200];
    bench_t b;

    snprintf(layer, sizeof(layer), "type: \"SoftmaxWithLoss\" loss_param { %s }",
             loss_param);
    b = bench("a:2x2x1x2 l:2x1x2", "loss", layer, CAFFE__PHASE__TRAIN);
    bench_set(&b, "l", FLOATS(0, 1, 9, 1)); /* all scores are 0: each costs log 2 */
    bench_forward(&b);
    return b;
}

TEST(softmax_loss_divides_as_the_mode_says)
{
    static const struct {
        const char *param;
        double      divisor;
    } mode[] = {
        {"ignore_label: 9", 3},
        {"ignore_label: 9 normalization: VALID", 3},
        {"ignore_label: 9 normalization: FULL", 4},
        {"ignore_label: 9 normalization: BATCH_SIZE", 2},
        {"ignore_label: 9 normalization: NONE", 1},
        {"ignore_label: 9 normalize: true", 3},
        {"ignore_label: 9 normalize: false", 2},
    };

    for (size_t i = 0; i < sizeof(mode) / sizeof(mode[0]); i++) {
        bench_t b = spatial(mode[i].param);
        float   g = (float)(0.5 / mode[i].divisor);

        CHECK_NEAR(b.loss, 3 * log(2.0) / mode[i].divisor, 1e-6);
        bench_backward(&b);
        bench_diff_is(&b, "a", FLOATS(-g, g, g, -g, 0, g, 0, -g), 1e-6);
        bench_end(&b);
    }
}

TEST(softmax_loss_of_nothing_but_ignored_labels_is_zero)
{
    bench_t b = bench("a:2x3 l:2", "loss",
                      "type: \"SoftmaxWithLoss\" loss_param { ignore_label: -1 }",
                      CAFFE__PHASE__TRAIN);

    bench_set(&b, "l", FLOATS(-1, -1));
    bench_forward(&b);
    CHECK_NEAR(b.loss, 0, 0);
    bench_backward(&b);
    bench_diff_is(&b, "a", FLOATS(0, 0, 0, 0, 0, 0), 0);
    bench_end(&b);
}

TEST(softmax_loss_is_bounded_but_does_not_hide_nan)
{
    bench_t b =
        bench("a:1x2 l:1", "loss", "type: \"SoftmaxWithLoss\"", CAFFE__PHASE__TRAIN);

    bench_set(&b, "l", FLOATS(0));
    bench_set(&b, "a", FLOATS(-1e6f, 1e6f));
    bench_forward(&b);
    CHECK_NEAR(b.loss, -log((double)FLT_MIN), 1e-4);
    bench_set(&b, "a", FLOATS(NAN, 0));
    bench_forward(&b);
    CHECK(isnan(b.loss));
    bench_end(&b);
}

TEST(softmax_loss_shows_probabilities_in_a_second_top)
{
    bench_t b = bench("a:1x2 l:1", "loss prob",
                      "type: \"SoftmaxWithLoss\" loss_weight: 1 loss_weight: 0",
                      CAFFE__PHASE__TRAIN);

    bench_set(&b, "a", FLOATS(0, logf(3.0f)));
    bench_forward(&b);
    bench_is(&b, "prob", FLOATS(0.25f, 0.75f), 1e-6);
    bench_end(&b);
}

TEST(softmax_loss_refuses_labels_of_another_shape)
{
    BENCH_REFUSES("a:2x3 l:3", "loss", "type: \"SoftmaxWithLoss\"",
                  "2 items in the first bottom, 3 in the second");
    BENCH_REFUSES("a:2x3 l:2x2", "loss", "type: \"SoftmaxWithLoss\"",
                  "4 labels for 2 predictions: with classes on axis 1");
    BENCH_REFUSES("a:2x3 l:2", "loss",
                  "type: \"SoftmaxWithLoss\" softmax_param { axis: 2 }",
                  "axis 2 is out of range");
}

TEST(labels_are_cut_to_integers)
{
    fire_loss_t s = {.has_ignore = true, .ignore = 255};
    int64_t     c;

    CHECK_OK(fire_loss_label(&s, 2.9f, 0, 3, &c));
    CHECK_EQ(c, 2);
    CHECK_OK(fire_loss_label(&s, -0.5f, 0, 3, &c));
    CHECK_EQ(c, 0);
    CHECK_OK(fire_loss_label(&s, 255.0f, 0, 3, &c));
    CHECK_EQ(c, FIRE_LABEL_IGNORED);
    CHECK_FAILS(fire_loss_label(&s, 254.0f, 7, 3, &c), FIRE_ERR_INVALID,
                "label 254 of item 7");
}
