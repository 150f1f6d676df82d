/* Additions of the executor, in canonical order. */
#include "comm/exec/reduce.h"

#include "ranks.h"
#include "test.h"

enum { N = 5003 };

TEST(a_pair_is_added_element_by_element_also_in_place)
{
    static float a[N], b[N], sum[N];

    contribute(0, a, N);
    contribute(1, b, N);
    fire_sum_pair(sum, a, b, N);
    for (size_t i = 0; i < N; i++)
        CHECK(sum[i] == contribution(0, i) + contribution(1, i));
    fire_sum_pair(a, a, b, N);
    CHECK(memcmp(a, sum, sizeof(sum)) == 0);
    contribute(0, a, N);
    fire_sum_pair(b, a, b, N);
    CHECK(memcmp(b, sum, sizeof(sum)) == 0);
}

TEST(many_are_added_in_canonical_order_into_all_places)
{
    static float x[40][N], want[N];
    float       *dst[40];
    const float *src[40];

    for (int n = 1; n <= 40; n++)
        for (int own = 0; own < n; own += 7) {
            canonical_sum(n, want, N);
            for (int r = 0; r < n; r++) {
                contribute(r, x[r], N);
                src[r] = x[r];
                dst[r] = x[(own + r) % n];
            }
            fire_sum_all(dst, n, src, n, N);
            for (int r = 0; r < n; r++)
                CHECK(memcmp(x[r], want, sizeof(want)) == 0);
        }
}
