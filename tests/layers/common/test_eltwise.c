/* Eltwise: sum, product and maximum with their gradients, and what it refuses. */
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
    BENCH_REFUSES("a:2", "y", "type: \"Eltwise\" eltwise_param { operation: PROD }",
                  "(Eltwise)");
}
