/* ArgMax: the best of each item or along an axis. */
#include "layers/bench.h"

#define ARGMAX(param) "type: \"ArgMax\" argmax_param { " param " }"

TEST(argmax_ranks_each_item)
{
    bench_t b =
        bench("a:2x3", "y", ARGMAX("top_k: 2 out_max_val: true"), CAFFE__PHASE__TEST);

    bench_set(&b, "a", FLOATS(5, 9, 7, 4, 4, 3));
    bench_forward(&b);
    bench_shape_is(&b, "y", "2 2 2 (8)");
    bench_is(&b, "y", FLOATS(1, 2, 9, 7, 1, 0, 4, 4), 0); /* the higher index first */
    bench_end(&b);
}

TEST(argmax_along_an_axis_keeps_the_others)
{
    bench_t b = bench("a:2x2x2", "y", ARGMAX("axis: 1"), CAFFE__PHASE__TEST);

    bench_set(&b, "a", FLOATS(1, 5, 3, 2, 9, 8, 7, 10));
    bench_forward(&b);
    bench_shape_is(&b, "y", "2 1 2 (4)");
    bench_is(&b, "y", FLOATS(1, 0, 0, 1), 0);
    bench_end(&b);
    b = bench("a:2x2x2", "y", ARGMAX("axis: 1 out_max_val: true"), CAFFE__PHASE__TEST);
    bench_set(&b, "a", FLOATS(1, 5, 3, 2, 9, 8, 7, 10));
    bench_forward(&b);
    bench_is(&b, "y", FLOATS(3, 5, 9, 10), 0);
    bench_end(&b);
}

TEST(argmax_refuses_more_than_there_are)
{
    BENCH_REFUSES("a:2x3", "y", ARGMAX("top_k: 4"), "top_k 4 of 3 elements");
    BENCH_REFUSES("a:2x3", "y", ARGMAX("top_k: 3 axis: 0"), "top_k 3 of 2 elements");
    BENCH_REFUSES("a:2x3", "y", ARGMAX("axis: 2"), "axis 2 is out of range");
}
