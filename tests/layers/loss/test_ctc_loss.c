/* CTCLoss where all paths can be counted. */
#include "layers/bench.h"

static bench_t ctc(const char *inputs)
{
    return bench(inputs, "loss", "type: \"CTCLoss\"", CAFFE__PHASE__TRAIN);
}

TEST(ctc_loss_counts_every_path_of_a_label)
{
    bench_t b = ctc("x:2x1x2 c:2x1 y:1x1");

    /* Even chances: of 4 paths, "a-", "-a" and "aa" say a. */
    bench_set(&b, "x", FLOATS(0, 0, 0, 0));
    bench_set(&b, "c", FLOATS(0, 1));
    bench_set(&b, "y", FLOATS(0));
    bench_forward(&b);
    CHECK_NEAR(b.loss, -log(3 / 4.0), 1e-6);
    bench_backward(&b);
    bench_diff_is(
        &b, "x",
        FLOATS(0.5f - 2 / 3.0f, 0.5f - 1 / 3.0f, 0.5f - 2 / 3.0f, 0.5f - 1 / 3.0f),
        1e-6);
    bench_end(&b);
}

TEST(ctc_loss_puts_a_blank_between_equal_labels)
{
    bench_t b = ctc("x:3x1x2 c:3x1 y:2x1");

    bench_set(&b, "x", FLOATS(0, 0, 0, 0, 0, 0));
    bench_set(&b, "c", FLOATS(0, 1, 1));
    bench_set(&b, "y", FLOATS(0, 0)); /* only "a-a" of 8 */
    bench_forward(&b);
    CHECK_NEAR(b.loss, -log(1 / 8.0), 1e-6);
    bench_end(&b);
}

TEST(ctc_loss_refuses_what_cannot_be_said)
{
    bench_t b = ctc("x:2x1x2 c:2x1 y:2x1");

    bench_set(&b, "c", FLOATS(0, 1));
    bench_set(&b, "y", FLOATS(0, 0));
    CHECK_FAILS(fire_net_forward(b.net, 0, -1, NULL), FIRE_ERR_INVALID,
                "2 steps, too few for its 2 labels");
    bench_set(&b, "y", FLOATS(1, -1));
    CHECK_FAILS(fire_net_forward(b.net, 0, -1, NULL), FIRE_ERR_INVALID,
                "without the blank, 1");
    bench_end(&b);
    BENCH_REFUSES("x:2x1x2 c:2x2 y:1x1", "loss", "type: \"CTCLoss\"", "cont (T N)");
    BENCH_REFUSES("x:2x1x2 c:2x1 y:1x1", "loss",
                  "type: \"CTCLoss\" ctc_loss_param { blank_index: 2 }",
                  "blank_index 2 is out of range: there are 2 classes");
}
