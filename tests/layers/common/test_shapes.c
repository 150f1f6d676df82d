/* Layers that move or rename data: Concat, Slice, Split, Flatten, Reshape, Tile. */
#include "layers/bench.h"

TEST(concat_puts_bottoms_behind_each_other_along_the_axis)
{
    bench_t b = bench("a:2x1 b:2x2", "y", "type: \"Concat\"", CAFFE__PHASE__TEST);

    bench_set(&b, "a", FLOATS(1, 2));
    bench_set(&b, "b", FLOATS(3, 4, 5, 6));
    bench_forward(&b);
    bench_shape_is(&b, "y", "2 3 (6)");
    bench_is(&b, "y", FLOATS(1, 3, 4, 2, 5, 6), 0);
    bench_set_diff(&b, "y", FLOATS(10, 11, 12, 13, 14, 15));
    bench_backward(&b);
    bench_diff_is(&b, "a", FLOATS(10, 13), 0);
    bench_diff_is(&b, "b", FLOATS(11, 12, 14, 15), 0);
    bench_end(&b);
}

TEST(concat_along_axis_0_and_from_the_end)
{
    bench_t b = bench("a:1x2 b:2x2", "y", "type: \"Concat\" concat_param { axis: -2 }",
                      CAFFE__PHASE__TEST);

    bench_shape_is(&b, "y", "3 2 (6)");
    bench_end(&b);
}

TEST(concat_refuses_bottoms_that_do_not_fit)
{
    BENCH_REFUSES(
        "a:2x1 b:3x1", "y", "type: \"Concat\"",
        "bottom 0 is 2 1 (2), bottom 1 is 3 1 (3): they may differ on axis 1");
    BENCH_REFUSES("a:2x1 b:2x1x1", "y", "type: \"Concat\"", "they may differ");
    BENCH_REFUSES("a:2x1", "y", "type: \"Concat\" concat_param { axis: 2 }",
                  "axis 2 is out of range");
    BENCH_REFUSES("a:2x1", "y",
                  "type: \"Concat\" concat_param { axis: 1 concat_dim: 1 }",
                  "not both");
}

TEST(slice_cuts_at_its_points)
{
    bench_t b = bench("a:2x4", "x y z",
                      "type: \"Slice\" slice_param { slice_point: 1 slice_point: 3 }",
                      CAFFE__PHASE__TEST);

    bench_set(&b, "a", FLOATS(1, 2, 3, 4, 5, 6, 7, 8));
    bench_forward(&b);
    bench_is(&b, "x", FLOATS(1, 5), 0);
    bench_is(&b, "y", FLOATS(2, 3, 6, 7), 0);
    bench_is(&b, "z", FLOATS(4, 8), 0);
    bench_set_diff(&b, "x", FLOATS(10, 20));
    bench_set_diff(&b, "y", FLOATS(11, 12, 21, 22));
    bench_set_diff(&b, "z", FLOATS(13, 23));
    bench_backward(&b);
    bench_diff_is(&b, "a", FLOATS(10, 11, 12, 13, 20, 21, 22, 23), 0);
    bench_end(&b);
}

TEST(slice_without_points_cuts_into_equal_parts)
{
    bench_t b = bench("a:2x4", "x y", "type: \"Slice\"", CAFFE__PHASE__TEST);

    bench_shape_is(&b, "y", "2 2 (4)");
    bench_end(&b);
}

TEST(slice_refuses_impossible_cuts)
{
    BENCH_REFUSES("a:2x5", "x y", "type: \"Slice\"", "5 cannot be cut into 2 equal");
    BENCH_REFUSES("a:2x5", "x y", "type: \"Slice\" slice_param { slice_point: 5 }",
                  "top 1 would reach from 5 to 5 of 5");
    BENCH_REFUSES("a:2x5", "x y z",
                  "type: \"Slice\" slice_param { slice_point: 3 slice_point: 2 }",
                  "top 1 would reach from 3 to 2");
    BENCH_REFUSES("a:2x5", "x y z", "type: \"Slice\" slice_param { slice_point: 3 }",
                  "1 slice_points for 3 tops");
    BENCH_REFUSES("a:2x5", "x y",
                  "type: \"Slice\" slice_param { axis: 1 slice_dim: 1 }", "not both");
}

/* No copies: writing the top is writing the bottom. */
static void is_a_view(const char *layer)
{
    bench_t      b = bench("a:2x3", "y", layer, CAFFE__PHASE__TEST);
    const float *bottom, *top;

    bench_forward(&b);
    for (int part = FIRE_DATA; part <= FIRE_DIFF; part++) {
        CHECK_OK(
            fire_blob_read(bench_blob(&b, "a"), (fire_part_t)part, FIRE_CPU, &bottom));
        CHECK_OK(
            fire_blob_read(bench_blob(&b, "y"), (fire_part_t)part, FIRE_CPU, &top));
        CHECK(bottom == top);
    }
    bench_end(&b);
}

TEST(layers_that_only_rename_copy_nothing)
{
    is_a_view("type: \"Flatten\"");
    is_a_view("type: \"Reshape\" reshape_param { shape { dim: 3 dim: 2 } }");
    is_a_view("type: \"Concat\"");
    is_a_view("type: \"Slice\"");
}

TEST(views_follow_when_the_memory_of_their_bottom_is_replaced)
{
    bench_t      b = bench("a:2x3", "y", "type: \"Flatten\"", CAFFE__PHASE__TEST);
    fire_blob_t *other;

    CHECK_OK(fire_blob_create(&other));
    CHECK_OK(fire_blob_reshape_like(other, bench_blob(&b, "a")));
    fire_blob_share(bench_blob(&b, "a"), other, FIRE_DATA);
    bench_fill(other, FIRE_DATA, FLOATS(1, 2, 3, 4, 5, 6));
    bench_forward(&b);
    bench_is(&b, "y", FLOATS(1, 2, 3, 4, 5, 6), 0);
    bench_end(&b);
    fire_blob_destroy(other);
}

TEST(flatten_joins_the_axes_of_its_range)
{
    bench_t b = bench("a:2x3x4x5", "y", "type: \"Flatten\"", CAFFE__PHASE__TEST);

    bench_shape_is(&b, "y", "2 60 (120)");
    bench_end(&b);
    b = bench("a:2x3x4x5", "y",
              "type: \"Flatten\" flatten_param { axis: 0 end_axis: -3 }",
              CAFFE__PHASE__TEST);
    bench_shape_is(&b, "y", "6 4 5 (120)");
    bench_end(&b);
    BENCH_REFUSES("a:2x3x4", "y",
                  "type: \"Flatten\" flatten_param { axis: 2 end_axis: 1 }",
                  "axis 2 comes behind end_axis 1");
    BENCH_REFUSES("a:2x3", "a", "type: \"Flatten\"", "cannot work in place");
}

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

TEST(tile_repeats_and_adds_up_gradients)
{
    bench_t b = bench("a:2x2", "y", "type: \"Tile\" tile_param { axis: 1 tiles: 3 }",
                      CAFFE__PHASE__TEST);

    bench_set(&b, "a", FLOATS(1, 2, 3, 4));
    bench_forward(&b);
    bench_is(&b, "y", FLOATS(1, 2, 1, 2, 1, 2, 3, 4, 3, 4, 3, 4), 0);
    bench_set_diff(&b, "y", FLOATS(1, 2, 10, 20, 100, 200, 3, 4, 30, 40, 300, 400));
    bench_backward(&b);
    bench_diff_is(&b, "a", FLOATS(111, 222, 333, 444), 0);
    bench_end(&b);
    BENCH_REFUSES("a:2", "y", "type: \"Tile\" tile_param { axis: 0 tiles: 0 }",
                  "tiles 0; it must be at least 1");
}

TEST(split_gives_all_readers_the_data_and_adds_their_gradients)
{
    bench_t b = bench("a:2", "x y z", "type: \"Split\"", CAFFE__PHASE__TEST);

    bench_set(&b, "a", FLOATS(1, 2));
    bench_forward(&b);
    bench_is(&b, "x", FLOATS(1, 2), 0);
    bench_is(&b, "z", FLOATS(1, 2), 0);
    bench_set_diff(&b, "x", FLOATS(1, 2));
    bench_set_diff(&b, "y", FLOATS(10, 20));
    bench_set_diff(&b, "z", FLOATS(100, 200));
    bench_backward(&b);
    bench_diff_is(&b, "a", FLOATS(111, 222), 0);
    bench_end(&b);
    BENCH_REFUSES("a:2 b:2", "x y", "type: \"Split\"", "(Split)");
}

TEST(split_with_one_reader_passes_the_gradient_on)
{
    bench_t b = bench("a:2", "x", "type: \"Split\"", CAFFE__PHASE__TEST);

    bench_forward(&b);
    bench_set_diff(&b, "x", FLOATS(1, 2));
    bench_backward(&b);
    bench_diff_is(&b, "a", FLOATS(1, 2), 0);
    bench_end(&b);
}
