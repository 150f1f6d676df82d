/* ROIWarping: the gradient of the regions, computed with the derivatives of bilinear
 * interpolation in double precision. */
#include "layers/bench.h"

TEST(roi_warping_moves_the_corners_of_a_region)
{
    bench_t b =
        bench("x:1x1x5x6 r:1x5", "y",
              "type: \"ROIWarping\" roi_warping_param { pooled_h: 2 pooled_w: 2 "
              "spatial_scale: 0.5 }",
              CAFFE__PHASE__TRAIN);

    bench_set(&b, "x",
              FLOATS(0, -0.7f, -1.4f, -2.1f, -2.8f, -3.5f, 0.3f, -0.29f, -0.66f, -0.81f,
                     -0.74f, -0.45f, 1.2f, 0.72f, 0.68f, 1.08f, 1.92f, 3.2f, 2.7f,
                     2.33f, 2.62f, 3.57f, 5.18f, 7.45f, 4.8f, 4.54f, 5.16f, 6.66f,
                     9.04f, 12.3f));
    bench_set(&b, "r", FLOATS(0, 2, 2, 9, 7));
    bench_forward(&b);
    bench_set_diff(&b, "y", FLOATS(1, -2, 0.5f, 3));
    bench_backward(&b);
    bench_diff_is(&b, "r", FLOATS(0, 0.73f, 0.68375f, 0.88375f, 2.06875f), 1e-5);
    bench_end(&b);
}
