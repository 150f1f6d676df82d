/* Concat: bottoms behind each other along an axis, and what it refuses. */
#include "layers/bench.h"

TEST(concat_puts_bottoms_behind_each_other_along_the_axis)
{
    bench_t b = bench("a:2x1 b:2x2", "y", "type: \"Concat\"", CAFFE__PHASE__TEST);

    bench_set(&b, "a", FLOATS(1, 2));
    bench_set(&b, "b", FLOATS(3, 4, 5, 6));
    bench_forward(&b);
    bench_shape_is(&b, "y", "2 3 (6)");
    bench_is(&b, "y", FLOATS(1, 3, 4, 2, 5, 6), 0);
    bench_set_diff(&b, "y", FLOATS(10, 11, 12, 13, 14, 15));
    bench_backward(&b);
    bench_diff_is(&b, "a", FLOATS(10, 13), 0);
    bench_diff_is(&b, "b", FLOATS(11, 12, 14, 15), 0);
    bench_end(&b);
}

TEST(concat_along_axis_0_and_from_the_end)
{
    bench_t b = bench("a:1x2 b:2x2", "y", "type: \"Concat\" concat_param { axis: -2 }",
                      CAFFE__PHASE__TEST);

    bench_shape_is(&b, "y", "3 2 (6)");
    bench_end(&b);
}

TEST(concat_refuses_bottoms_that_do_not_fit)
{
    BENCH_REFUSES(
        "a:2x1 b:3x1", "y", "type: \"Concat\"",
        "bottom 0 is 2 1 (2), bottom 1 is 3 1 (3): they may differ on axis 1");
    BENCH_REFUSES("a:2x1 b:2x1x1", "y", "type: \"Concat\"", "they may differ");
    BENCH_REFUSES("a:2x1", "y", "type: \"Concat\" concat_param { axis: 2 }",
                  "axis 2 is out of range");
    BENCH_REFUSES("a:2x1", "y",
                  "type: \"Concat\" concat_param { axis: 1 concat_dim: 1 }",
                  "not both");
}
