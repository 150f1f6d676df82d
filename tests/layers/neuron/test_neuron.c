/* Element-wise layers at a few points that can be checked by hand, in place and not.
 * Tests src/layers/neuron/. */
#include "layers/bench.h"

TEST(absval_has_the_sign_as_gradient)
{
    bench_elementwise("type: \"AbsVal\"", FLOATS(-3, 0, 2), FLOATS(3, 0, 2),
                      FLOATS(-1, 0, 1), 0);
}

TEST(power_covers_its_special_cases)
{
    bench_elementwise("type: \"Power\"", FLOATS(-2, 3), FLOATS(-2, 3), FLOATS(1, 1), 0);
    bench_elementwise("type: \"Power\" power_param { power: 2 scale: 3 shift: 1 }",
                      FLOATS(-1, 2), FLOATS(4, 49), FLOATS(-12, 42), 1e-4);
    bench_elementwise("type: \"Power\" power_param { power: 3 }", FLOATS(-2, 0, 1),
                      FLOATS(-8, 0, 1), FLOATS(12, 0, 3), 1e-5);
    bench_elementwise("type: \"Power\" power_param { power: -1 scale: 2 shift: 1 }",
                      FLOATS(0, 1.5f), FLOATS(1, 0.25f), FLOATS(-2, -0.125f), 1e-6);
    bench_elementwise("type: \"Power\" power_param { power: 0 shift: 5 }", FLOATS(0, 7),
                      FLOATS(1, 1), FLOATS(0, 0), 0);
    bench_elementwise("type: \"Power\" power_param { power: 2 scale: 0 shift: 3 }",
                      FLOATS(1, 7), FLOATS(9, 9), FLOATS(0, 0), 0);
}

TEST(exp_takes_any_positive_base)
{
    float ln2 = logf(2.0f);

    bench_elementwise("type: \"Exp\"", FLOATS(0, 1), FLOATS(1, expf(1.0f)),
                      FLOATS(1, expf(1.0f)), 1e-6);
    bench_elementwise("type: \"Exp\" exp_param { base: 2 scale: 3 shift: -1 }",
                      FLOATS(0, 1), FLOATS(0.5f, 4), FLOATS(1.5f * ln2, 12 * ln2),
                      1e-5);
    BENCH_REFUSES("a:2", "y", "type: \"Exp\" exp_param { base: 0 }",
                  "layer \"it\" (Exp): base 0; it must be positive");
}

TEST(log_takes_any_positive_base_but_1)
{
    float ln10 = logf(10.0f);

    bench_elementwise("type: \"Log\"", FLOATS(1, 2), FLOATS(0, logf(2.0f)),
                      FLOATS(1, 0.5f), 1e-6);
    bench_elementwise("type: \"Log\" log_param { base: 10 scale: 2 shift: 4 }",
                      FLOATS(3, 48), FLOATS(1, 2), FLOATS(0.2f / ln10, 0.02f / ln10),
                      1e-6);
    BENCH_REFUSES("a:2", "y", "type: \"Log\" log_param { base: 1 }",
                  "base 1; it must be positive and not 1");
    BENCH_REFUSES("a:2", "y", "type: \"Log\" log_param { base: -3 }", "base -3");
}

TEST(clip_limits_values_and_stops_gradients_outside)
{
    bench_elementwise("type: \"Clip\" clip_param { min: -1 max: 2 }",
                      FLOATS(-3, -1, 0, 2, 7), FLOATS(-1, -1, 0, 2, 2),
                      FLOATS(0, 1, 1, 1, 0), 0);
    BENCH_REFUSES("a:2", "y", "type: \"Clip\"", "clip_param { min: ... max: ... }");
    BENCH_REFUSES("a:2", "y", "type: \"Clip\" clip_param { min: 2 max: 1 }",
                  "min 2 is greater than max 1");
}

TEST(threshold_gives_0_or_1_and_no_gradient)
{
    bench_t b =
        bench("a:3", "y", "type: \"Threshold\" threshold_param { threshold: 1 }",
              CAFFE__PHASE__TEST);

    bench_set(&b, "a", FLOATS(0.5f, 1, 1.5f));
    bench_forward(&b);
    bench_is(&b, "y", FLOATS(0, 0, 1), 0);
    CHECK(!fire_net_find_layer(b.net, "it")->propagate_down[0]);
    bench_end(&b);
}
