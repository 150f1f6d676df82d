/* GradientScaler: gradients get the opposite sign, more so with each iteration. */
#include "layers/bench.h"
#include "net/net_state.h"

/* The gradient of an element whose top has 1, at an iteration. */
static double factor_at(int64_t step)
{
    bench_t b =
        bench("x:1x1", "y",
              "type: \"GradientScaler\" gradient_scaler_param { upper_bound: 0.5 "
              "alpha: 10 max_iter: 100 threshold_iter: 5 }",
              CAFFE__PHASE__TRAIN);
    const float *dx;
    double       factor;

    b.net->moment.step = step;
    bench_set(&b, "x", FLOATS(3));
    bench_forward(&b);
    bench_is(&b, "y", FLOATS(3), 0);
    bench_set_diff(&b, "y", FLOATS(1));
    bench_backward(&b);
    CHECK_OK(fire_blob_read(bench_blob(&b, "x"), FIRE_DIFF, FIRE_CPU, &dx));
    factor = dx[0];
    bench_end(&b);
    return factor;
}

TEST(gradients_are_reversed_more_and_more)
{
    CHECK_NEAR(factor_at(4), 0, 0);
    CHECK_NEAR(factor_at(10), -(1 / (1 + exp(-1.0)) - 0.5), 1e-6);
    CHECK_NEAR(factor_at(50), -(1 / (1 + exp(-5.0)) - 0.5), 1e-6);
    CHECK_NEAR(factor_at(1000), -(1 / (1 + exp(-10.0)) - 0.5), 1e-6);
}
