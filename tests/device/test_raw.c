#include "device/cpu/raw.h"

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
