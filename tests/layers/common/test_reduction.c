/* Reduction: its four operations, along the last axes. */
#include "layers/bench.h"

static void reduces(const char *op, floats_t y, floats_t dx)
{
    char    layer[128];
    bench_t b;

    snprintf(layer, sizeof(layer),
             "type: \"Reduction\" reduction_param { operation: %s axis: 1 coeff: 2 }",
             op);
    b = bench("a:2x2x1", "y", layer, CAFFE__PHASE__TEST);
    bench_set(&b, "a", FLOATS(1, -2, 3, 4));
    bench_forward(&b);
    bench_shape_is(&b, "y", "2 (2)");
    bench_is(&b, "y", y, 1e-5);
    bench_set_diff(&b, "y", FLOATS(1, 10));
    bench_backward(&b);
    bench_diff_is(&b, "a", dx, 1e-5);
    bench_end(&b);
}

TEST(reduction_knows_four_operations)
{
    reduces("SUM", FLOATS(-2, 14), FLOATS(2, 2, 20, 20));
    reduces("ASUM", FLOATS(6, 14), FLOATS(2, -2, 20, 20));
    reduces("SUMSQ", FLOATS(10, 50), FLOATS(4, -8, 120, 160));
    reduces("MEAN", FLOATS(-1, 7), FLOATS(1, 1, 10, 10));
}

TEST(reduction_over_everything_gives_one_number)
{
    bench_t b = bench("a:2x3", "y", "type: \"Reduction\"", CAFFE__PHASE__TEST);

    bench_shape_is(&b, "y", "(1)");
    bench_end(&b);
    BENCH_REFUSES("a:2x3", "y", "type: \"Reduction\" reduction_param { axis: 2 }",
                  "reduction_param: axis 2 is out of range for shape 2 3 (6)");
}
