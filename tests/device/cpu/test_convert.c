/* test_convert.c - number formats and layouts of the CPU, value by value. */
#include "device/cpu/convert.h"
#include "test.h"

TEST(half_precision_round_trips_every_finite_value)
{
    for (uint32_t h = 0; h < 0x10000; h++) {
        uint16_t u = (uint16_t)h;

        if ((u & 0x7c00) == 0x7c00 && (u & 0x3ff) != 0) continue; /* NaN */
        CHECK_EQ(fire_to_f16(fire_from_f16(u)), u);
    }
    for (uint32_t h = 0; h < 0x10000; h++) {
        uint16_t u = (uint16_t)h;

        if ((u & 0x7f80) == 0x7f80 && (u & 0x7f) != 0) continue;
        CHECK_EQ(fire_to_bf16(fire_from_bf16(u)), u);
    }
}

TEST(half_precision_rounds_to_nearest_even)
{
    CHECK_EQ(fire_to_f16(1.0f + 0x1p-11f), 0x3c00); /* tie: even below */
    CHECK_EQ(fire_to_f16(1.0f + 0x3p-11f), 0x3c02); /* tie: even above */
    CHECK_EQ(fire_to_f16(65520.0f), 0x7c00);
    CHECK_EQ(fire_to_f16(-65519.0f), 0xfbff);
    CHECK_EQ(fire_to_f16(0x1p-24f), 0x0001);
    CHECK_EQ(fire_to_bf16(1.0f + 0x1p-8f), 0x3f80);
    CHECK_EQ(fire_to_bf16(1.0f + 0x3p-8f), 0x3f82);
    CHECK(isnan(fire_from_f16(fire_to_f16(NAN))));
    CHECK(isnan(fire_from_bf16(fire_to_bf16(NAN))));
}
