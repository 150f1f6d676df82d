/* Silence takes blobs and gives none. */
#include "layers/bench.h"

TEST(silence_swallows_blobs_and_sends_zeros_back)
{
    bench_t b = bench("a:2 b:1", "", "type: \"Silence\"", CAFFE__PHASE__TEST);

    bench_set_diff(&b, "a", FLOATS(7, 8));
    bench_forward(&b);
    bench_backward(&b);
    bench_diff_is(&b, "a", FLOATS(0, 0), 0);
    bench_end(&b);
    BENCH_REFUSES("a:2", "y", "type: \"Silence\"", "(Silence)");
}
