/* Slice: the pieces of an axis, and what it refuses. */
#include "layers/bench.h"

TEST(slice_cuts_at_its_points)
{
    bench_t b = bench("a:2x4", "x y z",
                      "type: \"Slice\" slice_param { slice_point: 1 slice_point: 3 }",
                      CAFFE__PHASE__TEST);

    bench_set(&b, "a", FLOATS(1, 2, 3, 4, 5, 6, 7, 8));
    bench_forward(&b);
    bench_is(&b, "x", FLOATS(1, 5), 0);
    bench_is(&b, "y", FLOATS(2, 3, 6, 7), 0);
    bench_is(&b, "z", FLOATS(4, 8), 0);
    bench_set_diff(&b, "x", FLOATS(10, 20));
    bench_set_diff(&b, "y", FLOATS(11, 12, 21, 22));
    bench_set_diff(&b, "z", FLOATS(13, 23));
    bench_backward(&b);
    bench_diff_is(&b, "a", FLOATS(10, 11, 12, 13, 20, 21, 22, 23), 0);
    bench_end(&b);
}

TEST(slice_without_points_cuts_into_equal_parts)
{
    bench_t b = bench("a:2x4", "x y", "type: \"Slice\"", CAFFE__PHASE__TEST);

    bench_shape_is(&b, "y", "2 2 (4)");
    bench_end(&b);
}

TEST(slice_refuses_impossible_cuts)
{
    BENCH_REFUSES("a:2x5", "x y", "type: \"Slice\"", "5 cannot be cut into 2 equal");
    BENCH_REFUSES("a:2x5", "x y", "type: \"Slice\" slice_param { slice_point: 5 }",
                  "top 1 would reach from 5 to 5 of 5");
    BENCH_REFUSES("a:2x5", "x y z",
                  "type: \"Slice\" slice_param { slice_point: 3 slice_point: 2 }",
                  "top 1 would reach from 3 to 2");
    BENCH_REFUSES("a:2x5", "x y z", "type: \"Slice\" slice_param { slice_point: 3 }",
                  "1 slice_points for 3 tops");
    BENCH_REFUSES("a:2x5", "x y",
                  "type: \"Slice\" slice_param { axis: 1 slice_dim: 1 }", "not both");
}
