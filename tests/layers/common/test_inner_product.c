/* InnerProduct: what it refuses. Its values are those of tests/layers/cases. */
#include "layers/bench.h"

TEST(inner_product_says_what_is_wrong)
{
    BENCH_REFUSES("x:2x3", "y", "type: \"InnerProduct\"", "num_output");
    BENCH_REFUSES(
        "x:2x3", "y",
        "type: \"InnerProduct\" inner_product_param { num_output: 2 axis: 3 }",
        "axis 3 is out of range");
    BENCH_REFUSES("x:2x0", "y",
                  "type: \"InnerProduct\" inner_product_param { num_output: 2 }",
                  "empty from axis 1 on");
}

TEST(inner_product_refuses_other_inputs_later)
{
    bench_t b = bench("x:2x3", "y",
                      "type: \"InnerProduct\" inner_product_param { num_output: 2 }",
                      CAFFE__PHASE__TEST);

    CHECK_OK(fire_blob_reshape(bench_blob(&b, "x"), 2, (int64_t[]){2, 4}));
    CHECK_FAILS(fire_net_forward(b.net, 0, -1, NULL), FIRE_ERR_INVALID,
                "weights are for 3 inputs from axis 1 on");
    bench_end(&b);
}
