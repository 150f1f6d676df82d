/* Pad: values from the other side count several times in the gradient. */
#include "layers/bench.h"

TEST(pad_adds_up_the_gradients_of_copies)
{
    bench_t b =
        bench("x:1x1x1x3", "y",
              "type: \"Pad\" pad_param { mode: REFLECT begin: 0 begin: 2 end: 0 "
              "end: 1 }",
              CAFFE__PHASE__TEST);

    bench_set(&b, "x", FLOATS(1, 2, 3));
    bench_forward(&b);
    bench_is(&b, "y", FLOATS(3, 2, 1, 2, 3, 2), 0);
    bench_set_diff(&b, "y", FLOATS(1, 10, 100, 1000, 10000, 100000));
    bench_backward(&b);
    bench_diff_is(&b, "x", FLOATS(100, 101010, 10001), 0);
    bench_end(&b);
}

TEST(pad_cuts_off_and_fills)
{
    bench_t b = bench("x:1x3", "y",
                      "type: \"Pad\" pad_param { axis: 1 value: 7 begin: -1 end: 2 }",
                      CAFFE__PHASE__TEST);

    bench_set(&b, "x", FLOATS(1, 2, 3));
    bench_forward(&b);
    bench_is(&b, "y", FLOATS(2, 3, 7, 7), 0);
    bench_set_diff(&b, "y", FLOATS(1, 10, 100, 1000));
    bench_backward(&b);
    bench_diff_is(&b, "x", FLOATS(0, 1, 10), 0);
    bench_end(&b);
}
