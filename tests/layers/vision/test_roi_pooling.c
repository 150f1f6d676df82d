/* ROIPooling: the maximum of each bin. Tests src/layers/vision/roi.c too. */
#include "layers/bench.h"

TEST(roi_pooling_takes_the_maximum_of_each_bin_and_zero_of_none)
{
    bench_t b =
        bench("x:1x1x4x4 r:2x5", "y",
              "type: \"ROIPooling\" roi_pooling_param { pooled_h: 2 pooled_w: 2 }",
              CAFFE__PHASE__TRAIN);

    bench_set(&b, "x", FLOATS(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16));
    bench_set(&b, "r", FLOATS(0, 0, 0, 2, 1, 0, 8, 8, 9, 9));
    bench_forward(&b);
    bench_is(&b, "y", FLOATS(2, 3, 6, 7, 0, 0, 0, 0), 0);
    bench_set_diff(&b, "y", FLOATS(1, 2, 3, 4, 5, 6, 7, 8));
    bench_backward(&b);
    bench_diff_is(&b, "x", FLOATS(0, 1, 2, 0, 0, 3, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0), 0);
    bench_set(&b, "r", FLOATS(0, 0, 0, 2, 1, 1, 0, 0, 1, 1));
    CHECK_FAILS(fire_net_forward(b.net, 0, -1, NULL), FIRE_ERR_INVALID,
                "a region is of image 1; there are 1 images");
    bench_end(&b);
}
