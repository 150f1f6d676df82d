/* Split: one blob for several readers, whose gradients are added. */
#include "layers/bench.h"

TEST(split_gives_all_readers_the_data_and_adds_their_gradients)
{
    bench_t b = bench("a:2", "x y z", "type: \"Split\"", CAFFE__PHASE__TEST);

    bench_set(&b, "a", FLOATS(1, 2));
    bench_forward(&b);
    bench_is(&b, "x", FLOATS(1, 2), 0);
    bench_is(&b, "z", FLOATS(1, 2), 0);
    bench_set_diff(&b, "x", FLOATS(1, 2));
    bench_set_diff(&b, "y", FLOATS(10, 20));
    bench_set_diff(&b, "z", FLOATS(100, 200));
    bench_backward(&b);
    bench_diff_is(&b, "a", FLOATS(111, 222), 0);
    bench_end(&b);
    BENCH_REFUSES("a:2 b:2", "x y", "type: \"Split\"", "(Split)");
}

TEST(split_with_one_reader_passes_the_gradient_on)
{
    bench_t b = bench("a:2", "x", "type: \"Split\"", CAFFE__PHASE__TEST);

    bench_forward(&b);
    bench_set_diff(&b, "x", FLOATS(1, 2));
    bench_backward(&b);
    bench_diff_is(&b, "a", FLOATS(1, 2), 0);
    bench_end(&b);
}
