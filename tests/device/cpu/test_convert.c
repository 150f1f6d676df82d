/* test_convert.c - arrays between number formats and layouts on the CPU. */
#include "device/cpu/convert.h"

#include <string.h>

#include "test.h"

enum { N = 2, C = 3, H = 2, W = 2, COUNT = N * C * H * W };

static const int64_t dim[] = {N, C, H, W};

static const fire_format_t plain = {.place = FIRE_CPU, .dtype = FIRE_F32};

TEST(channels_last_moves_each_element_to_its_place)
{
    fire_format_t last = {.place = FIRE_CPU, .dtype = FIRE_F32, .layout = FIRE_NHWC};
    float         x[COUNT], y[COUNT], back[COUNT];

    for (int i = 0; i < COUNT; i++)
        x[i] = (float)i;
    CHECK_OK(fire_cpu_convert(&plain, x, &last, y, 4, dim));
    for (int n = 0; n < N; n++)
        for (int c = 0; c < C; c++)
            for (int p = 0; p < H * W; p++)
                CHECK_EQ(y[(n * H * W + p) * C + c], x[(n * C + c) * H * W + p]);
    CHECK_OK(fire_cpu_convert(&last, y, &plain, back, 4, dim));
    CHECK(memcmp(x, back, sizeof(x)) == 0);
}

static void check_16_bits(fire_dtype_t dtype, float unit)
{
    fire_format_t f = {.place = FIRE_CPU, .dtype = dtype};
    float         x[COUNT], back[COUNT];
    uint16_t      y[COUNT];

    for (int i = 0; i < COUNT; i++)
        x[i] = 1.0f + 0.37f * (float)i;
    CHECK_OK(fire_cpu_convert(&plain, x, &f, y, 4, dim));
    CHECK_OK(fire_cpu_convert(&f, y, &plain, back, 4, dim));
    for (int i = 0; i < COUNT; i++)
        CHECK_NEAR(back[i], x[i], x[i] * unit);
    CHECK(memcmp(x, back, sizeof(x)) != 0); /* it did round */
}

TEST(sixteen_bits_keep_8_or_11_binary_digits)
{
    check_16_bits(FIRE_BF16, 0x1p-8f);
    check_16_bits(FIRE_F16, 0x1p-11f);
}
