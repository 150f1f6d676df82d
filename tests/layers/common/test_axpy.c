/* Axpy: a x + y, one a per channel. */
#include "layers/bench.h"

TEST(axpy_scales_channels_and_adds)
{
    bench_t b =
        bench("a:1x2 x:1x2x2 b:1x2x2", "y", "type: \"Axpy\"", CAFFE__PHASE__TEST);

    bench_set(&b, "a", FLOATS(2, -1));
    bench_set(&b, "x", FLOATS(1, 2, 3, 4));
    bench_set(&b, "b", FLOATS(10, 10, 20, 20));
    bench_forward(&b);
    bench_is(&b, "y", FLOATS(12, 14, 17, 16), 0);
    bench_set_diff(&b, "y", FLOATS(1, 10, 100, 1000));
    bench_backward(&b);
    bench_diff_is(&b, "a", FLOATS(21, 4300), 0);
    bench_diff_is(&b, "x", FLOATS(2, 20, -100, -1000), 0);
    bench_diff_is(&b, "b", FLOATS(1, 10, 100, 1000), 0);
    bench_end(&b);
    BENCH_REFUSES("a:1x3 x:1x2x2 b:1x2x2", "y", "type: \"Axpy\"",
                  "one value for each channel of 1 2 2 (4)");
    BENCH_REFUSES("a:1x2 x:1x2x2 b:1x2x3", "y", "type: \"Axpy\"", "one shape");
}
