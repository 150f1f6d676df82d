/* Layers that move values: Permute, ShuffleChannel, Reorg. Tests
 * src/layers/shape/shuffle_channel.c and src/layers/shape/reorg.c too. */
#include "layers/bench.h"

/* Numbers 0, 1, 2, ... go in; backward of the output itself must restore them. */
static void moves_to(const char *input, const char *layer, const char *shape,
                     floats_t y)
{
    bench_t b = bench(input, "y", layer, CAFFE__PHASE__TEST);
    float   x[32];

    CHECK(y.n <= 32);
    for (int i = 0; i < 32; i++)
        x[i] = (float)i;
    bench_set(&b, "a", (floats_t){y.n, x});
    bench_forward(&b);
    bench_shape_is(&b, "y", shape);
    bench_is(&b, "y", y, 0);
    bench_set_diff(&b, "y", y);
    bench_backward(&b);
    bench_diff_is(&b, "a", (floats_t){y.n, x}, 0);
    bench_end(&b);
}

#define PERMUTE(param) "type: \"Permute\" permute_param { " param " }"

TEST(permute_reorders_axes)
{
    moves_to("a:2x3", PERMUTE("order: 1 order: 0"), "3 2 (6)",
             FLOATS(0, 3, 1, 4, 2, 5));
    moves_to("a:1x2x2x2", PERMUTE("order: 0 order: 2 order: 3 order: 1"), "1 2 2 2 (8)",
             FLOATS(0, 4, 1, 5, 2, 6, 3, 7));
    moves_to("a:2x2x2", PERMUTE("order: 1"), "2 2 2 (8)",
             FLOATS(0, 1, 4, 5, 2, 3, 6, 7)); /* 0 and 2 follow */
    moves_to("a:2x2x3", PERMUTE("order: 0 order: 2 order: 1"), "2 3 2 (12)",
             FLOATS(0, 3, 1, 4, 2, 5, 6, 9, 7, 10, 8, 11));
    moves_to("a:2x3", "type: \"Permute\"", "2 3 (6)", FLOATS(0, 1, 2, 3, 4, 5));
    BENCH_REFUSES("a:2x3", "y", PERMUTE("order: 2"), "order: 2, but the bottom has 2");
    BENCH_REFUSES("a:2x3", "y", PERMUTE("order: 1 order: 1"),
                  "order: 1 is given twice");
}

#define SHUFFLE(param) "type: \"ShuffleChannel\" shuffle_channel_param { " param " }"

TEST(shuffle_channel_deals_groups_out)
{
    moves_to("a:1x6", SHUFFLE("group: 2"), "1 6 (6)", FLOATS(0, 3, 1, 4, 2, 5));
    moves_to("a:2x4x2", SHUFFLE("group: 2"), "2 4 2 (16)",
             FLOATS(0, 1, 4, 5, 2, 3, 6, 7, 8, 9, 12, 13, 10, 11, 14, 15));
    BENCH_REFUSES("a:1x5", "y", SHUFFLE("group: 2"), "5 channels do not divide into 2");
    BENCH_REFUSES("a:4", "y", SHUFFLE("group: 2"), "no channel axis");
}

#define REORG(param) "type: \"Reorg\" reorg_param { " param " }"

TEST(reorg_moves_space_to_channels_as_darknet_does)
{
    moves_to("a:1x4x2x2", REORG("stride: 2"), "1 16 1 1 (16)",
             FLOATS(0, 2, 8, 10, 1, 3, 9, 11, 4, 6, 12, 14, 5, 7, 13, 15));
    moves_to("a:1x4x2x2", REORG("stride: 2 reverse: true"), "1 1 4 4 (16)",
             FLOATS(0, 4, 1, 5, 8, 12, 9, 13, 2, 6, 3, 7, 10, 14, 11, 15));
    BENCH_REFUSES("a:1x4x3x2", "y", REORG("stride: 2"), "stride 2 does not fit shape");
    BENCH_REFUSES("a:1x3x2x2", "y", REORG("stride: 2"), "stride 2 does not fit shape");
}
