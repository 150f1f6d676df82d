/* Activations at a few points that can be checked by hand, in place and not.
 * Tests src/layers/activation/. */
#include "layers/bench.h"

TEST(relu_cuts_below_zero)
{
    bench_elementwise("type: \"ReLU\"", FLOATS(-2, -0.5f, 0, 0.5f, 2),
                      FLOATS(0, 0, 0, 0.5f, 2), FLOATS(0, 0, 0, 1, 1), 0);
}

TEST(relu_with_a_slope_is_right_in_place_even_if_the_slope_is_negative)
{
    bench_elementwise("type: \"ReLU\" relu_param { negative_slope: 0.25 }",
                      FLOATS(-2, 3), FLOATS(-0.5f, 3), FLOATS(0.25f, 1), 0);
    bench_elementwise("type: \"ReLU\" relu_param { negative_slope: -0.5 }",
                      FLOATS(-2, 3), FLOATS(1, 3), FLOATS(-0.5f, 1), 0);
}

TEST(relu_lets_nan_through)
{
    bench_t      b = bench("a:1", "y", "type: \"ReLU\"", CAFFE__PHASE__TEST);
    const float *y;

    bench_set(&b, "a", FLOATS(NAN));
    bench_forward(&b);
    CHECK_OK(fire_blob_read(bench_blob(&b, "y"), FIRE_DATA, FIRE_CPU, &y));
    CHECK(isnan(y[0]));
    bench_end(&b);
}

TEST(relu6_stays_between_0_and_6)
{
    bench_elementwise("type: \"ReLU6\"", FLOATS(-1, 0.5f, 5.5f, 6.5f),
                      FLOATS(0, 0.5f, 5.5f, 6), FLOATS(0, 1, 1, 0), 0);
}

TEST(elu_is_exponential_below_zero)
{
    float e = expf(-1.0f);

    bench_elementwise("type: \"ELU\" elu_param { alpha: 2 }", FLOATS(-1, 3),
                      FLOATS(2 * (e - 1), 3), FLOATS(2 * e, 1), 1e-6);
    bench_elementwise("type: \"ELU\" elu_param { alpha: -2 }", FLOATS(-1, 3),
                      FLOATS(-2 * (e - 1), 3), FLOATS(-2 * e, 1), 1e-6);
}

TEST(sigmoid_and_tanh_are_bounded_and_steepest_at_zero)
{
    bench_elementwise("type: \"Sigmoid\"", FLOATS(-100, 0, 100), FLOATS(0, 0.5f, 1),
                      FLOATS(0, 0.25f, 0), 1e-7);
    bench_elementwise("type: \"TanH\"", FLOATS(-100, 0, 100), FLOATS(-1, 0, 1),
                      FLOATS(0, 1, 0), 1e-7);
}

TEST(bnll_does_not_overflow)
{
    bench_elementwise("type: \"BNLL\"", FLOATS(-200, 0, 200),
                      FLOATS(0, logf(2.0f), 200), FLOATS(0, 0.5f, 1), 1e-6);
}

TEST(swish_is_x_times_sigmoid)
{
    float s = 1.0f / (1.0f + expf(-2.0f));

    bench_elementwise("type: \"Swish\" swish_param { beta: 2 }", FLOATS(0, 1),
                      FLOATS(0, s), FLOATS(0.5f, s + 2 * s * (1 - s)), 1e-6);
    bench_elementwise("type: \"Swish\" swish_param { beta: 0 }", FLOATS(-3, 4),
                      FLOATS(-1.5f, 2), FLOATS(0.5f, 0.5f), 1e-6);
}

TEST(prelu_learns_a_slope_for_each_channel)
{
    for (int in_place = 0; in_place < 2; in_place++) {
        const char   *top = in_place ? "a" : "y";
        bench_t       b = bench("a:2x2x1", top, "type: \"PReLU\"", CAFFE__PHASE__TRAIN);
        fire_layer_t *it = fire_net_find_layer(b.net, "it");

        CHECK_EQ(it->nblob, 1);
        bench_compare(it->blob[0], FIRE_DATA, FLOATS(0.25f, 0.25f), 0);
        bench_fill(it->blob[0], FIRE_DATA, FLOATS(0.5f, -2));
        bench_set(&b, "a", FLOATS(-1, -2, 3, -4));
        bench_forward(&b);
        bench_is(&b, top, FLOATS(-0.5f, 4, 3, 8), 0);
        bench_set_diff(&b, top, FLOATS(1, 10, 100, 1000));
        bench_backward(&b);
        bench_diff_is(&b, "a", FLOATS(0.5f, -20, 100, -2000), 0);
        bench_compare(it->blob[0], FIRE_DIFF, FLOATS(-1, -4020), 0);
        bench_end(&b);
    }
}

TEST(prelu_may_share_one_slope)
{
    bench_t b = bench("a:1x3", "y",
                      "type: \"PReLU\" prelu_param { channel_shared: true "
                      "filler { value: 3 } }",
                      CAFFE__PHASE__TRAIN);

    CHECK_EQ(fire_net_find_layer(b.net, "it")->blob[0]->ndim, 0);
    bench_set(&b, "a", FLOATS(-1, -2, 3));
    bench_forward(&b);
    bench_is(&b, "y", FLOATS(-3, -6, 3), 0);
    bench_end(&b);
}

TEST(prelu_needs_channels)
{
    BENCH_REFUSES("a:3", "y", "type: \"PReLU\"", "no channel axis");
}

TEST(element_wise_layers_take_one_bottom_and_one_top)
{
    static const char *const type[] = {
        "AbsVal", "BNLL", "Dropout", "ELU",     "Exp",   "Log",  "Power",
        "PReLU",  "ReLU", "ReLU6",   "Sigmoid", "Swish", "TanH", "Threshold"};

    for (size_t i = 0; i < sizeof(type) / sizeof(type[0]); i++) {
        char layer[64];

        snprintf(layer, sizeof(layer), "type: \"%s\"", type[i]);
        BENCH_REFUSES("a:2x2 b:2x2", "y", layer, type[i]);
    }
}
