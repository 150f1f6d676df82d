/* Tile: copies along an axis, whose gradients are added. */
#include "layers/bench.h"

TEST(tile_repeats_and_adds_up_gradients)
{
    bench_t b = bench("a:2x2", "y", "type: \"Tile\" tile_param { axis: 1 tiles: 3 }",
                      CAFFE__PHASE__TEST);

    bench_set(&b, "a", FLOATS(1, 2, 3, 4));
    bench_forward(&b);
    bench_is(&b, "y", FLOATS(1, 2, 1, 2, 1, 2, 3, 4, 3, 4, 3, 4), 0);
    bench_set_diff(&b, "y", FLOATS(1, 2, 10, 20, 100, 200, 3, 4, 30, 40, 300, 400));
    bench_backward(&b);
    bench_diff_is(&b, "a", FLOATS(111, 222, 333, 444), 0);
    bench_end(&b);
    BENCH_REFUSES("a:2", "y", "type: \"Tile\" tile_param { axis: 0 tiles: 0 }",
                  "tiles 0; it must be at least 1");
}
