/* Layers whose top is the memory of their bottom: Flatten, Reshape, Split and others. */
#include "layers/bench.h"

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
