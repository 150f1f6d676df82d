/* Accuracy: ties, top k, classes, ignored labels. */
#include "layers/bench.h"

#define ACCURACY(param) "type: \"Accuracy\" accuracy_param { " param " }"

TEST(accuracy_counts_ties_as_misses)
{
    bench_t b = bench("a:4x2 l:4", "y", "type: \"Accuracy\"", CAFFE__PHASE__TEST);

    bench_set(&b, "a", FLOATS(1, 0, 0, 1, 2, 2, 3, 1));
    bench_set(&b, "l", FLOATS(0, 0, 0, 0)); /* hit, miss, tie, hit */
    bench_forward(&b);
    bench_is(&b, "y", FLOATS(0.5f), 0);
    bench_end(&b);
}

TEST(accuracy_looks_at_the_k_best)
{
    bench_t b = bench("a:2x3 l:2", "y", ACCURACY("top_k: 2"), CAFFE__PHASE__TEST);

    bench_set(&b, "a", FLOATS(3, 2, 1, 3, 2, 1));
    bench_set(&b, "l", FLOATS(1, 2));
    bench_forward(&b);
    bench_is(&b, "y", FLOATS(0.5f), 0);
    bench_end(&b);
}

TEST(accuracy_of_each_class_in_a_second_top)
{
    bench_t b = bench("a:3x3 l:3", "y z", "type: \"Accuracy\"", CAFFE__PHASE__TEST);

    bench_set(&b, "a", FLOATS(1, 0, 0, 0, 1, 0, 0, 0, 1));
    bench_set(&b, "l", FLOATS(0, 1, 0));
    for (int pass = 0; pass < 2; pass++) {
        bench_forward(&b);
        bench_is(&b, "y", FLOATS(2.0f / 3), 1e-7);
        bench_is(&b, "z", FLOATS(0.5f, 1, 0), 0);
    }
    bench_end(&b);
}

TEST(accuracy_leaves_out_ignored_labels)
{
    bench_t b =
        bench("a:2x2 l:2", "y", ACCURACY("ignore_label: 7"), CAFFE__PHASE__TEST);

    bench_set(&b, "a", FLOATS(1, 0, 1, 0));
    bench_set(&b, "l", FLOATS(7, 0));
    bench_forward(&b);
    bench_is(&b, "y", FLOATS(1), 0);
    bench_set(&b, "l", FLOATS(7, 7));
    bench_forward(&b);
    bench_is(&b, "y", FLOATS(0), 0);
    bench_end(&b);
}

TEST(accuracy_refuses_wrong_settings)
{
    BENCH_REFUSES("a:2x3 l:2", "y", ACCURACY("top_k: 4"), "top_k 4 of 3 classes");
    BENCH_REFUSES("a:2x3 l:2", "y", ACCURACY("axis: 2"), "accuracy_param: axis 2");
    BENCH_REFUSES("a:2x3 l:3", "y", "type: \"Accuracy\"", "3 labels for 2 predictions");
}
