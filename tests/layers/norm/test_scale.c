/* Scale adds to gradients of parameters. Tests src/layers/norm/affine.c too. */
#include "layers/bench.h"
#include "net/net_state.h"

TEST(scale_adds_to_the_gradients_of_its_parameters)
{
    bench_t b = bench("x:1x2", "y", "type: \"Scale\" scale_param { bias_term: true }",
                      CAFFE__PHASE__TRAIN);
    fire_layer_t *l = fire_net_find_layer(b.net, "it");

    bench_set(&b, "x", FLOATS(3, 5));
    bench_forward(&b);
    bench_set_diff(&b, "y", FLOATS(1, 2));
    bench_backward(&b);
    bench_backward(&b);
    bench_compare(l->blob[0], FIRE_DIFF, FLOATS(6, 20), 0);
    bench_compare(l->blob[1], FIRE_DIFF, FLOATS(2, 4), 0);
    bench_end(&b);
}
