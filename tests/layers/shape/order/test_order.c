/* Layers that put elements in another order. Tests src/layers/shape/order/. */
#include "layers/bench.h"

TEST(a_sequence_read_backwards_twice_is_as_before)
{
    bench_t b = bench("x:4x2", "y", "type: \"Reverse\"", CAFFE__PHASE__TRAIN);

    bench_set(&b, "x", FLOATS(1, 2, 3, 4, 5, 6, 7, 8));
    bench_forward(&b);
    bench_is(&b, "y", FLOATS(7, 8, 5, 6, 3, 4, 1, 2), 0);
    bench_set_diff(&b, "y", FLOATS(7, 8, 5, 6, 3, 4, 1, 2));
    bench_backward(&b);
    bench_diff_is(&b, "x", FLOATS(1, 2, 3, 4, 5, 6, 7, 8), 0);
    bench_end(&b);
}

TEST(an_image_can_be_flipped_both_ways)
{
    bench_t b =
        bench("x:1x1x2x2", "y", "type: \"Flip\" flip_param { flip_height: true }",
              CAFFE__PHASE__TEST);

    bench_set(&b, "x", FLOATS(1, 2, 3, 4));
    bench_forward(&b);
    bench_is(&b, "y", FLOATS(4, 3, 2, 1), 0);
    bench_end(&b);
}
