/* Additions of the executor, in canonical order. */
#include "comm/exec/reduce.h"

#include "comm/pattern/roots.h"
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

/* The canonical sum of lanes first ... end - 1, which are a subtree. */
static void sum_lanes(int first, int end, float *sum)
{
    static float rest[5][N];
    static int   depth;
    int          half = 1;

    if (end - first == 1) {
        contribute(first, sum, N);
        return;
    }
    while (2 * half < end - first)
        half *= 2;
    depth++;
    sum_lanes(first, first + half, sum);
    sum_lanes(first + half, end, rest[depth]);
    fire_sum_pair(sum, sum, rest[depth], N);
    depth--;
}

/* Runs of lanes in all ways to cut 13 of them in two or three. */
TEST(sums_of_subtrees_are_added_as_their_lanes_would_be)
{
    static float x[FIRE_MAX_ROOTS][N], want[N];
    float       *dst[1];
    const float *src[FIRE_MAX_ROOTS];

    for (int a = 1; a < 13; a++)
        for (int b = a; b <= 13; b++) {
            const int   cut[] = {0, a, b, 13};
            fire_root_t root[FIRE_MAX_ROOTS];
            int         lane[FIRE_MAX_ROOTS + 1], n = 0;

            for (int k = 0; k < 3; k++)
                n += fire_roots(cut[k], cut[k + 1], 13, root + n);
            for (int i = 0; i < n; i++) {
                lane[i] = root[i].first;
                src[i]  = x[i];
                sum_lanes(root[i].first, root[i].end, x[i]);
            }
            lane[n] = 13;
            dst[0]  = x[n - 1];
            canonical_sum(13, want, N);
            fire_sum_all(dst, 1, src, n, lane, N);
            CHECK(memcmp(dst[0], want, sizeof(want)) == 0);
        }
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
            fire_sum_all(dst, n, src, n, NULL, N);
            for (int r = 0; r < n; r++)
                CHECK(memcmp(x[r], want, sizeof(want)) == 0);
        }
}
