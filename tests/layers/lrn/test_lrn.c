/* LRN of nothing; its values are those of tests/layers/cases. */
#include "layers/bench.h"

TEST(lrn_of_no_channels_touches_nothing)
{
    bench_t b = bench("x:2x0x2x3", "y", "type: \"LRN\" lrn_param { local_size: 3 }",
                      CAFFE__PHASE__TRAIN);

    bench_forward(&b);
    bench_end(&b);
}
