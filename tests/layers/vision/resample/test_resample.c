/* Images of other sizes by weights along each axis. Tests src/layers/vision/resample/. */
#include "layers/bench.h"

TEST(an_image_resampled_to_its_own_size_is_the_same)
{
    static const char *const types[] = {
        "type: \"Resample\" resample_param { height: 2 width: 3 type: NEAREST }",
        "type: \"Resample\" resample_param { height: 2 width: 3 type: LINEAR }",
        "type: \"Resample\" resample_param { height: 2 width: 3 type: CUBIC }",
        "type: \"Downsample\" downsample_param { top_height: 2 top_width: 3 }"};

    for (int i = 0; i < 4; i++) {
        bench_t b = bench("x:1x1x2x3", "y", types[i], CAFFE__PHASE__TRAIN);

        bench_set(&b, "x", FLOATS(1, 2, 3, 4, 5, 6));
        bench_forward(&b);
        bench_is(&b, "y", FLOATS(1, 2, 3, 4, 5, 6), 1e-6);
        bench_set_diff(&b, "y", FLOATS(6, 5, 4, 3, 2, 1));
        bench_backward(&b);
        bench_diff_is(&b, "x", FLOATS(6, 5, 4, 3, 2, 1), 1e-6);
        bench_end(&b);
    }
}
