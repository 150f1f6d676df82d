/* Optical flow: what leaves the image, and displacements that are none. Tests
 * src/layers/flow/. */
#include "layers/bench.h"

TEST(flow_from_outside_of_the_image_is_filled_and_has_no_gradient)
{
    bench_t      b = bench("x:1x1x1x3 flow:1x2x1x3", "y",
                           "type: \"FlowWarp\" flow_warp_param { fill_value: NOT_A_NUMBER }",
                           CAFFE__PHASE__TRAIN);
    const float *y;

    bench_set(&b, "x", FLOATS(1, 2, 4));
    bench_set(&b, "flow", FLOATS(0.5, -1.5, 0.5, 0, 0, 0));
    bench_forward(&b);
    CHECK_OK(fire_blob_read(bench_blob(&b, "y"), FIRE_DATA, FIRE_CPU, &y));
    CHECK_NEAR(y[0], 1.5, 0);
    CHECK(isnan(y[1]));
    CHECK_NEAR(y[2], 4, 0);
    bench_set_diff(&b, "y", FLOATS(1, 1, 1));
    bench_backward(&b);
    bench_diff_is(&b, "x", FLOATS(0.5, 0.5, 1), 0);
    bench_diff_is(&b, "flow", FLOATS(1, 0, 0, 0, 0, 0), 0);
    bench_end(&b);
}

TEST(an_image_is_most_like_itself_where_nothing_is_displaced)
{
    bench_t b = bench("a:1x2x1x3 b:1x2x1x3", "y",
                      "type: \"Correlation1D\" correlation_param { kernel_size: 1 "
                      "max_displacement: 1 pad: 1 single_direction: 1 }",
                      CAFFE__PHASE__TEST);

    bench_set(&b, "a", FLOATS(1, 2, 3, 0, 1, 0));
    bench_set(&b, "b", FLOATS(1, 2, 3, 0, 1, 0));
    bench_forward(&b);
    bench_shape_is(&b, "y", "1 2 1 3 (6)");
    bench_is(&b, "y", FLOATS(0.5, 2.5, 4.5, 1, 3, 0), 1e-6);
    bench_end(&b);
}
