/* Flatten joins axes. */
#include "layers/bench.h"

TEST(flatten_joins_the_axes_of_its_range)
{
    bench_t b = bench("a:2x3x4x5", "y", "type: \"Flatten\"", CAFFE__PHASE__TEST);

    bench_shape_is(&b, "y", "2 60 (120)");
    bench_end(&b);
    b = bench("a:2x3x4x5", "y",
              "type: \"Flatten\" flatten_param { axis: 0 end_axis: -3 }",
              CAFFE__PHASE__TEST);
    bench_shape_is(&b, "y", "6 4 5 (120)");
    bench_end(&b);
    BENCH_REFUSES("a:2x3x4", "y",
                  "type: \"Flatten\" flatten_param { axis: 2 end_axis: 1 }",
                  "axis 2 comes behind end_axis 1");
    BENCH_REFUSES("a:2x3", "a", "type: \"Flatten\"", "cannot work in place");
}
