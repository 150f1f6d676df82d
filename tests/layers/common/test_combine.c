/* Layers that compute across blobs or axes: Eltwise, Reduction, ArgMax, Softmax. */
#include "layers/bench.h"

#define ELTWISE(param) "type: \"Eltwise\" eltwise_param { " param " }"

TEST(eltwise_sums_with_coefficients)
{
    bench_t b = bench("a:2 b:2 c:2", "y", ELTWISE("coeff: 1 coeff: -2 coeff: 0.5"),
                      CAFFE__PHASE__TEST);

    bench_set(&b, "a", FLOATS(1, 2));
    bench_set(&b, "b", FLOATS(3, 4));
    bench_set(&b, "c", FLOATS(10, 20));
    bench_forward(&b);
    bench_is(&b, "y", FLOATS(0, 4), 0);
    bench_set_diff(&b, "y", FLOATS(1, 10));
    bench_backward(&b);
    bench_diff_is(&b, "a", FLOATS(1, 10), 0);
    bench_diff_is(&b, "b", FLOATS(-2, -20), 0);
    bench_diff_is(&b, "c", FLOATS(0.5f, 5), 0);
    bench_end(&b);
}

TEST(eltwise_product_has_both_gradients)
{
    static const char *const stable[] = {ELTWISE("operation: PROD"),
                                         ELTWISE("operation: PROD stable_prod_grad: "
                                                 "false")};

    for (int i = 0; i < 2; i++) {
        bench_t b = bench("a:2 b:2 c:2", "y", stable[i], CAFFE__PHASE__TEST);

        bench_set(&b, "a", FLOATS(2, 3));
        bench_set(&b, "b", FLOATS(5, 7));
        bench_set(&b, "c", FLOATS(1, -1));
        bench_forward(&b);
        bench_is(&b, "y", FLOATS(10, -21), 0);
        bench_set_diff(&b, "y", FLOATS(1, 2));
        bench_backward(&b);
        bench_diff_is(&b, "a", FLOATS(5, -14), 1e-6);
        bench_diff_is(&b, "b", FLOATS(2, -6), 1e-6);
        bench_diff_is(&b, "c", FLOATS(10, 42), 1e-5);
        bench_end(&b);
    }
}

TEST(eltwise_maximum_gives_the_gradient_to_the_winner)
{
    bench_t b =
        bench("a:4 b:4 c:4", "y", ELTWISE("operation: MAX"), CAFFE__PHASE__TEST);

    bench_set(&b, "a", FLOATS(3, 1, 1, 2));
    bench_set(&b, "b", FLOATS(1, 3, 1, 2));
    bench_set(&b, "c", FLOATS(2, 2, 5, 2));
    bench_forward(&b);
    bench_is(&b, "y", FLOATS(3, 3, 5, 2), 0);
    bench_set_diff(&b, "y", FLOATS(1, 2, 3, 4));
    bench_backward(&b);
    bench_diff_is(&b, "a", FLOATS(1, 0, 0, 0), 0);
    bench_diff_is(&b, "b", FLOATS(0, 2, 0, 4), 0); /* Caffe's choice among equals */
    bench_diff_is(&b, "c", FLOATS(0, 0, 3, 0), 0);
    bench_end(&b);
}

TEST(eltwise_refuses_what_it_cannot_combine)
{
    BENCH_REFUSES("a:2 b:3", "y", "type: \"Eltwise\"",
                  "bottom 0 is 2 (2), bottom 1 is 3 (3): all must have one shape");
    BENCH_REFUSES("a:2 b:2", "y", ELTWISE("coeff: 1"), "1 coeffs for 2 bottoms");
    BENCH_REFUSES("a:2 b:2", "y", ELTWISE("operation: PROD coeff: 1 coeff: 1"),
                  "coeff is for operation SUM only");
    BENCH_REFUSES("a:2", "y", "type: \"Eltwise\"", "(Eltwise)");
}

static void reduces(const char *op, floats_t y, floats_t dx)
{
    char    layer[128];
    bench_t b;

    snprintf(layer, sizeof(layer),
             "type: \"Reduction\" reduction_param { operation: %s axis: 1 coeff: 2 }",
             op);
    b = bench("a:2x2x1", "y", layer, CAFFE__PHASE__TEST);
    bench_set(&b, "a", FLOATS(1, -2, 3, 4));
    bench_forward(&b);
    bench_shape_is(&b, "y", "2 (2)");
    bench_is(&b, "y", y, 1e-5);
    bench_set_diff(&b, "y", FLOATS(1, 10));
    bench_backward(&b);
    bench_diff_is(&b, "a", dx, 1e-5);
    bench_end(&b);
}

TEST(reduction_knows_four_operations)
{
    reduces("SUM", FLOATS(-2, 14), FLOATS(2, 2, 20, 20));
    reduces("ASUM", FLOATS(6, 14), FLOATS(2, -2, 20, 20));
    reduces("SUMSQ", FLOATS(10, 50), FLOATS(4, -8, 120, 160));
    reduces("MEAN", FLOATS(-1, 7), FLOATS(1, 1, 10, 10));
}

TEST(reduction_over_everything_gives_one_number)
{
    bench_t b = bench("a:2x3", "y", "type: \"Reduction\"", CAFFE__PHASE__TEST);

    bench_shape_is(&b, "y", "(1)");
    bench_end(&b);
    BENCH_REFUSES("a:2x3", "y", "type: \"Reduction\" reduction_param { axis: 2 }",
                  "reduction_param: axis 2 is out of range for shape 2 3 (6)");
}

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

TEST(softmax_sums_to_one_along_its_axis)
{
    bench_t b = bench("a:1x2x2", "y", "type: \"Softmax\"", CAFFE__PHASE__TEST);
    float   e = expf(1.0f), f = expf(2.0f);

    bench_set(&b, "a", FLOATS(0, 1000, 1, 1002));
    bench_forward(&b);
    bench_is(&b, "y", FLOATS(1 / (1 + e), 1 / (1 + f), e / (1 + e), f / (1 + f)), 1e-6);
    bench_end(&b);
    b = bench("a:2x2", "y", "type: \"Softmax\" softmax_param { axis: 0 }",
              CAFFE__PHASE__TEST);
    bench_set(&b, "a", FLOATS(0, 3, 0, 3));
    bench_forward(&b);
    bench_is(&b, "y", FLOATS(0.5f, 0.5f, 0.5f, 0.5f), 1e-7);
    bench_set_diff(&b, "y", FLOATS(1, 0, 0, 0));
    bench_backward(&b);
    bench_diff_is(&b, "a", FLOATS(0.25f, 0, -0.25f, 0), 1e-7);
    bench_end(&b);
    BENCH_REFUSES("a:2", "y", "type: \"Softmax\"",
                  "softmax_param: axis 1 is out of range");
}
