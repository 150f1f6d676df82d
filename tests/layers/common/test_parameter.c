/* Parameter: a blob that learns. */
#include "layers/bench.h"
#include "net/net_state.h"

TEST(parameter_is_a_blob_that_learns_and_adds_up_gradients_over_passes)
{
    bench_t b =
        bench("", "y", "type: \"Parameter\" parameter_param { shape { dim: 2 } }",
              CAFFE__PHASE__TRAIN);
    fire_layer_t *it = fire_net_find_layer(b.net, "it");

    bench_fill(it->blob[0], FIRE_DATA, FLOATS(3, 4));
    bench_forward(&b);
    bench_is(&b, "y", FLOATS(3, 4), 0);
    bench_set_diff(&b, "y", FLOATS(1, 2));
    CHECK_OK(fire_net_clear_diffs(b.net));
    CHECK_OK(it->kernel->backward(it));
    CHECK_OK(it->kernel->backward(it));
    bench_compare(it->blob[0], FIRE_DIFF, FLOATS(2, 4), 0);
    bench_end(&b);
    BENCH_REFUSES("", "y", "type: \"Parameter\"", "parameter_param { shape");
}
