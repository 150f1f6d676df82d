/* test_blocked.c - the order of elements in blocked arrays, and their padding. */
#include "device/cpu/blocked.h"
#include "device/cpu/convert.h"
#include "test.h"

static const int64_t dim[4] = {2, 19, 3, 7};
enum { COUNT = 2 * 19 * 3 * 7 };

static fire_format_t format_of(fire_dtype_t dtype, int64_t block)
{
    fire_format_t f;

    CHECK_OK(fire_blocked_format(dtype, block, 4, dim, &f));
    return f;
}

TEST(equal_blocked_formats_are_one_format)
{
    fire_format_t a = format_of(FIRE_F32, 16), b = format_of(FIRE_F32, 16);
    fire_format_t c = format_of(FIRE_F32, 8), plain = FIRE_FORMAT_PLAIN(FIRE_CPU);

    CHECK(fire_format_equal(&a, &b));
    CHECK(!fire_format_equal(&a, &c));
    CHECK_EQ(fire_blocked_of(&a)->blocks, 2);
    CHECK_EQ(a.opaque->bytes, 2 * 32 * 21 * sizeof(float));
    CHECK(fire_blocked_of(&plain) == NULL);
}

TEST(a_block_holds_the_channels_of_one_place_and_zeros_at_the_end)
{
    fire_format_t f = format_of(FIRE_F32, 16), plain = FIRE_FORMAT_PLAIN(FIRE_CPU);
    float         x[COUNT], y[2 * 32 * 21], back[COUNT];

    for (int i = 0; i < COUNT; i++)
        x[i] = (float)(i + 1);
    memset(y, 0xff, sizeof(y));
    CHECK_OK(fire_cpu_convert(&plain, x, &f, y, 4, dim));
    CHECK_EQ(y[0], x[0]);
    CHECK_EQ(y[1], x[21]); /* channel 1 of place 0 */
    CHECK_EQ(y[16], x[1]); /* channel 0 of place 1 */
    CHECK_EQ(y[(2 + 1) * 21 * 16 + 20 * 16 + 2], x[COUNT - 1]);
    for (int p = 0; p < 21; p++)
        for (int c = 3; c < 16; c++)
            CHECK_EQ(y[21 * 16 + p * 16 + c], 0);
    CHECK_OK(fire_cpu_convert(&f, y, &plain, back, 4, dim));
    CHECK(memcmp(x, back, sizeof(x)) == 0);
}

TEST(blocks_of_bfloat16_round_once)
{
    fire_format_t f = format_of(FIRE_BF16, 8), plain = FIRE_FORMAT_PLAIN(FIRE_CPU);
    float         x[COUNT], back[COUNT];
    uint16_t      y[2 * 24 * 21];

    for (int i = 0; i < COUNT; i++)
        x[i] = (float)i * 0.37f;
    CHECK_OK(fire_cpu_convert(&plain, x, &f, y, 4, dim));
    CHECK_OK(fire_cpu_convert(&f, y, &plain, back, 4, dim));
    for (int i = 0; i < COUNT; i++)
        CHECK_EQ(back[i] * 1e4f, fire_from_bf16(fire_to_bf16(x[i])) * 1e4f);
}
