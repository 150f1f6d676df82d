/* Reshape: copied, inferred and given axes, and what it refuses. */
#include "layers/bench.h"

static void reshapes_to(const char *param, const char *shape)
{
    char    layer[200];
    bench_t b;

    snprintf(layer, sizeof(layer), "type: \"Reshape\" reshape_param { %s }", param);
    b = bench("a:2x3x4", "y", layer, CAFFE__PHASE__TEST);
    bench_shape_is(&b, "y", shape);
    bench_end(&b);
}

TEST(reshape_copies_infers_and_replaces_axes)
{
    reshapes_to("shape { dim: 0 dim: -1 }", "2 12 (24)");
    reshapes_to("shape { dim: 4 dim: 6 }", "4 6 (24)");
    reshapes_to("shape { dim: 2 dim: 2 } axis: 2", "2 3 2 2 (24)");
    reshapes_to("shape { dim: 1 } axis: 1 num_axes: 0", "2 1 3 4 (24)");
    reshapes_to("shape { dim: -1 } axis: 0 num_axes: 2", "6 4 (24)");
    reshapes_to("shape { dim: 1 dim: 1 } axis: -1", "2 3 4 1 1 (24)");
}

TEST(reshape_refuses_shapes_that_cannot_hold_the_bottom)
{
#define RESHAPE(param) "type: \"Reshape\" reshape_param { " param " }"
    BENCH_REFUSES("a:2x3", "y", RESHAPE("shape { dim: 4 }"), "6 elements");
    BENCH_REFUSES("a:2x3", "y", RESHAPE("shape { dim: 4 dim: -1 }"), "6 elements");
    BENCH_REFUSES("a:2x3", "y", RESHAPE("shape { dim: -1 dim: -1 }"), "more than one");
    BENCH_REFUSES("a:2x3", "y", RESHAPE("shape { dim: 2 dim: 3 dim: 0 }"), "no axis 2");
    BENCH_REFUSES("a:2x3", "y", RESHAPE("shape { dim: -2 }"), "dim -2");
    BENCH_REFUSES("a:2x3", "y", RESHAPE("shape { dim: 6 } axis: 3"), "axis 3");
    BENCH_REFUSES("a:2x3", "y", RESHAPE("shape { dim: 6 } num_axes: 3"), "num_axes 3");
}
