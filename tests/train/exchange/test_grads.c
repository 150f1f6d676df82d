#include "train/exchange/grads.h"
#include "test.h"

/* Serial canonical tree: ranks r and r + 2^k meet in round k. */
static float tree(float *x, int n)
{
    for (int d = 1; d < n; d *= 2)
        for (int i = 0; i + d < n; i += 2 * d)
            x[i] = x[i] + x[i + d];
    return x[0];
}

TEST(lanes_add_up_in_the_canonical_tree_for_any_number)
{
    for (int lanes = 1; lanes <= 40; lanes++) {
        float        sum[1], level[6], all[40];
        fire_grads_t g = {.n = 1, .here = sum};

        for (int k = 0; k < 6; k++)
            g.level[k] = &level[k];
        for (int i = 0; i < lanes; i++) {
            sum[0] = all[i] = 1.0f / (float)(3 + i * i);
            CHECK_OK(fire_grads_add_lane(&g, i, lanes, 0, 1));
        }
        CHECK(sum[0] == tree(all, lanes));
    }
}
