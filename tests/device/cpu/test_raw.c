/* test_raw.c - element-wise loops: all values of bf16, and arrays with a tail. */
#include "device/cpu/raw.h"

#include "base/alloc.h"
#include "device/cpu/convert.h"
#include "test.h"

/* Every bf16 there is as an output of the ReLU. */
TEST(bf16_gradients_pass_where_the_relu_was_open)
{
    enum { N = 1 << 16 };
    static uint16_t y[N], d[N];

    for (int i = 0; i < N; i++) {
        y[i] = (uint16_t)i;
        d[i] = fire_to_bf16(3.0f);
    }
    fire_raw_relu_back(FIRE_BF16, N, 0.0f, y, d, d);
    for (int i = 0; i < N; i++)
        CHECK_EQ(fire_from_bf16(d[i]), fire_from_bf16(y[i]) > 0.0f ? 3.0f : 0.0f);
}

/* Long enough to go past the cache, with some elements after the last full vector. */
TEST(long_sums_and_their_gradients_are_right_to_the_end)
{
    enum { N = (2 << 20) + 5 };
    const float c[] = {1.0f, 2.0f};
    float      *x[2], *y, *d[2];

    for (int i = 0; i < 2; i++) {
        CHECK_OK(FIRE_NEW(&x[i], N));
        CHECK_OK(FIRE_NEW(&d[i], N));
    }
    CHECK_OK(FIRE_NEW(&y, N));
    for (int i = 0; i < N; i++) {
        x[0][i] = (float)(i % 7);
        x[1][i] = (float)(i % 5) - 4.0f;
    }
    fire_raw_sum(FIRE_F32, N, 2, NULL, (const void *const *)x, 0.0f, y);
    fire_raw_spread(FIRE_F32, N, 0.0f, y, x[0], 2, c, (void *const *)d);
    for (int i = 0; i < N; i++) {
        float sum = x[0][i] + x[1][i], back = sum > 0.0f ? x[0][i] : 0.0f;

        if (y[i] != (sum > 0.0f ? sum : 0.0f) || d[0][i] != back || d[1][i] != 2 * back)
            CHECK_EQ(i, -1);
    }
    for (int i = 0; i < 2; i++) {
        fire_free(x[i]);
        fire_free(d[i]);
    }
    fire_free(y);
}
