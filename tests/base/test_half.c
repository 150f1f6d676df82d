/* test_half.c - 16-bit floats: every value, rounding, special numbers. */
#include "base/half.h"

#include <math.h>

#include "test.h"

TEST(every_16_bit_number_survives_the_way_to_float_and_back)
{
    for (uint32_t h = 0; h < 65536; h++) {
        bool nan16 = (h & 0x7c00) == 0x7c00 && (h & 0x3ff) != 0;

        if (!nan16) CHECK_EQ(fire_to_fp16(fire_from_fp16((uint16_t)h)), h);
        if (!nan16) CHECK_EQ(fire_to_fp16_saturated(fire_from_fp16((uint16_t)h)), h);
        if (!isnan(fire_from_bf16((uint16_t)h)))
            CHECK_EQ(fire_to_bf16(fire_from_bf16((uint16_t)h)), h);
    }
}

TEST(ties_go_to_even)
{
    CHECK_EQ(fire_to_fp16(1.0f + 0x1p-11f), 0x3c00);
    CHECK_EQ(fire_to_fp16(1.0f + 0x3p-11f), 0x3c02);
    CHECK_EQ(fire_to_fp16(0x1p-24f), 0x0001); /* the smallest subnormal */
    CHECK_EQ(fire_to_fp16(0x1p-25f), 0x0000);
    CHECK_EQ(fire_to_fp16(0x1.8p-24f), 0x0002);
    CHECK_EQ(fire_to_bf16(1.0f + 0x1p-8f), 0x3f80);
    CHECK_EQ(fire_to_bf16(1.0f + 0x3p-8f), 0x3f82);
}

TEST(too_large_for_fp16_is_infinity_or_the_largest_number)
{
    CHECK_EQ(fire_to_fp16(65504.0f), 0x7bff);
    CHECK_EQ(fire_to_fp16(-65519.0f), 0xfbff);
    CHECK_EQ(fire_to_fp16(65520.0f), 0x7c00);
    CHECK_EQ(fire_to_fp16_saturated(65520.0f), 0x7bff);
    CHECK_EQ(fire_to_fp16_saturated(-1e9f), 0xfbff);
    CHECK_EQ(fire_to_fp16_saturated(INFINITY), 0x7c00);
}

TEST(nan_stays_nan)
{
    CHECK(isnan(fire_from_fp16(fire_to_fp16(NAN))));
    CHECK(isnan(fire_from_fp16(fire_to_fp16_saturated(NAN))));
    CHECK(isnan(fire_from_bf16(fire_to_bf16(NAN))));
}
