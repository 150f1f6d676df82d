/* Softmax along an axis. */
#include "layers/bench.h"

TEST(softmax_sums_to_one_along_its_axis)
{
    bench_t b = bench("a:1x2x2", "y", "type: \"Softmax\"", CAFFE__PHASE__TEST);
    float   e = expf(1.0f), f = expf(2.0f);

    bench_set(&b, "a", FLOATS(0, 1000, 1, 1002));
    bench_forward(&b);
    bench_is(&b, "y", FLOATS(1 / (1 + e), 1 / (1 + f), e / (1 + e), f / (1 + f)), 1e-6);
    bench_end(&b);
    b = bench("a:2x2", "y", "type: \"Softmax\" softmax_param { axis: 0 }",
              CAFFE__PHASE__TEST);
    bench_set(&b, "a", FLOATS(0, 3, 0, 3));
    bench_forward(&b);
    bench_is(&b, "y", FLOATS(0.5f, 0.5f, 0.5f, 0.5f), 1e-7);
    bench_set_diff(&b, "y", FLOATS(1, 0, 0, 0));
    bench_backward(&b);
    bench_diff_is(&b, "a", FLOATS(0.25f, 0, -0.25f, 0), 1e-7);
    bench_end(&b);
    BENCH_REFUSES("a:2", "y", "type: \"Softmax\"",
                  "softmax_param: axis 1 is out of range");
}
