/* MatMul: products of blobs, and their gradients. */
#include "layers/bench.h"

TEST(matmul_multiplies_two_blobs)
{
    bench_t b = bench("a:1x2x2 b:1x2x1", "y", "type: \"MatMul\"", CAFFE__PHASE__TEST);

    bench_set(&b, "a", FLOATS(1, 2, 3, 4));
    bench_set(&b, "b", FLOATS(10, 100));
    bench_forward(&b);
    bench_is(&b, "y", FLOATS(210, 430), 0);
    bench_set_diff(&b, "y", FLOATS(1, -1));
    bench_backward(&b);
    bench_diff_is(&b, "a", FLOATS(10, 100, -10, -100), 0);
    bench_diff_is(&b, "b", FLOATS(-2, -2), 0);
    bench_end(&b);
    BENCH_REFUSES("a:2 b:2", "y", "type: \"MatMul\"", "cannot be multiplied");
}
