/* PSROIPooling: each bin averages a channel of its own. */
#include "layers/bench.h"

TEST(psroi_pooling_looks_at_another_channel_for_each_bin)
{
    bench_t b = bench("x:1x4x2x2 r:1x5", "y",
                      "type: \"PSROIPooling\" psroi_pooling_param { spatial_scale: 1 "
                      "output_dim: 1 group_size: 2 }",
                      CAFFE__PHASE__TEST);

    bench_set(&b, "x", FLOATS(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16));
    bench_set(&b, "r", FLOATS(0, 0, 0, 1, 1));
    bench_forward(&b);
    bench_is(&b, "y", FLOATS(1, 6, 11, 16), 0);
    bench_end(&b);
}
