/* Interp: bilinear, corners on corners. */
#include "layers/bench.h"

TEST(interp_puts_corners_on_corners)
{
    bench_t b =
        bench("x:1x1x1x3", "y", "type: \"Interp\" interp_param { height: 1 width: 5 }",
              CAFFE__PHASE__TEST);

    bench_set(&b, "x", FLOATS(1, 3, 7));
    bench_forward(&b);
    bench_is(&b, "y", FLOATS(1, 2, 3, 5, 7), 1e-6);
    bench_end(&b);
}
