/* Upsample: values back to where max pooling took them. */
#include "layers/bench.h"

TEST(upsample_undoes_a_max_pooling)
{
    bench_t b =
        bench("x:1x1x1x2 m:1x1x1x2", "y", "type: \"Upsample\"", CAFFE__PHASE__TEST);

    bench_set(&b, "x", FLOATS(5, 6));
    bench_set(&b, "m", FLOATS(4, 3));
    bench_forward(&b);
    bench_is(&b, "y", FLOATS(0, 0, 0, 6, 5, 0, 0, 0), 0);
    bench_set(&b, "m", FLOATS(4, 8));
    CHECK_FAILS(fire_net_forward(b.net, 0, -1, NULL), FIRE_ERR_INVALID,
                "the mask points to 8 of 2 x 4");
    bench_end(&b);
}
