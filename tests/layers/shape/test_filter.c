/* Filter: the items that a selector chooses, another number each time. */
#include "layers/bench.h"

TEST(filter_keeps_chosen_items_and_follows_the_selector)
{
    bench_t b = bench("a:3x2 s:3", "y", "type: \"Filter\"", CAFFE__PHASE__TEST);

    bench_shape_is(&b, "y", "3 2 (6)"); /* room for all until there are values */
    bench_set(&b, "a", FLOATS(1, 2, 3, 4, 5, 6));
    bench_set(&b, "s", FLOATS(1, 0, 2));
    bench_forward(&b);
    bench_shape_is(&b, "y", "2 2 (4)");
    bench_is(&b, "y", FLOATS(1, 2, 5, 6), 0);
    bench_set_diff(&b, "y", FLOATS(10, 20, 50, 60));
    bench_backward(&b);
    bench_diff_is(&b, "a", FLOATS(10, 20, 0, 0, 50, 60), 0);
    bench_set(&b, "s", FLOATS(0, 1, 0));
    bench_forward(&b);
    bench_is(&b, "y", FLOATS(3, 4), 0);
    bench_set(&b, "s", FLOATS(0, 0, 0));
    bench_forward(&b);
    bench_shape_is(&b, "y", "0 2 (0)");
    bench_end(&b);
}

TEST(filter_refuses_selectors_that_do_not_fit)
{
    BENCH_REFUSES("a:3x2 s:2", "y", "type: \"Filter\"",
                  "bottom 0 has 3 items, the selector 2");
    BENCH_REFUSES("a:3x2 s:3x2", "y", "type: \"Filter\"", "one value for each item");
    BENCH_REFUSES("a:3 b:3 s:3", "y", "type: \"Filter\"", "1 tops for 3 bottoms");
}
