/* BatchReindex: items in any order and number. Tests src/layers/shape/gather.c too. */
#include "layers/bench.h"

TEST(batch_reindex_takes_items_in_any_order_and_number)
{
    bench_t b = bench("a:3x2 i:4", "y", "type: \"BatchReindex\"", CAFFE__PHASE__TEST);

    bench_set(&b, "a", FLOATS(1, 2, 3, 4, 5, 6));
    bench_set(&b, "i", FLOATS(2, 0, 2, 0));
    bench_forward(&b);
    bench_is(&b, "y", FLOATS(5, 6, 1, 2, 5, 6, 1, 2), 0);
    bench_set_diff(&b, "y", FLOATS(1, 2, 10, 20, 100, 200, 1000, 2000));
    bench_backward(&b);
    bench_diff_is(&b, "a", FLOATS(1010, 2020, 0, 0, 101, 202), 0);
    bench_set(&b, "i", FLOATS(0, 0, 3, 0));
    CHECK_FAILS(fire_net_forward(b.net, 0, -1, NULL), FIRE_ERR_INVALID,
                "layer \"it\" (BatchReindex): index 3 at place 2, of 3 items");
    bench_set(&b, "i", FLOATS(0, NAN, 0, 0));
    CHECK_FAILS(fire_net_forward(b.net, 0, -1, NULL), FIRE_ERR_INVALID, "index nan");
    bench_end(&b);
    BENCH_REFUSES("a:3x2 i:4x1", "y", "type: \"BatchReindex\"", "must have one axis");
}
