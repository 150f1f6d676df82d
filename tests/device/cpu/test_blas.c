/* test_blas.c - products against simple loops, and the same bits with any threads. */
#include "device/cpu/blas.h"

#include <string.h>

#include "device/cpu/parallel.h"
#include "test.h"

static const float a23[] = {1, 2, 3, 4, 5, 6}, b32[] = {7, 8, 9, 10, 11, 12};

TEST(gemm_multiplies_row_major_matrices_with_every_transposition)
{
    static const float a32[] = {1, 4, 2, 5, 3, 6}, b23[] = {7, 9, 11, 8, 10, 12};
    static const float want[] = {58, 64, 139, 154};

    for (int t = 0; t < 4; t++) {
        float c[4] = {1, 1, 1, 1};

        fire_gemm(t & 1, t >> 1, 2, 2, 3, 1.0f, t & 1 ? a32 : a23, t & 2 ? b23 : b32,
                  1.0f, c);
        for (int i = 0; i < 4; i++)
            CHECK_NEAR(c[i], want[i] + 1.0, 0.0);
    }
}

TEST(gemv_multiplies_with_a_matrix_and_its_transpose)
{
    const float x[] = {1, 2, 3};
    float       y[] = {1, 1, 1};

    fire_gemv(FIRE_NO_TRANS, 2, 3, 2.0f, a23, x, 1.0f, y);
    CHECK_NEAR(y[0], 29, 0.0);
    CHECK_NEAR(y[1], 65, 0.0);
    fire_gemv(FIRE_TRANS, 2, 3, 1.0f, a23, x, 0.0f, y);
    CHECK_NEAR(y[0], 9, 0.0);
    CHECK_NEAR(y[2], 15, 0.0);
}

TEST(empty_operands_leave_only_beta)
{
    float y[] = {3, 4};

    fire_gemm(FIRE_NO_TRANS, FIRE_NO_TRANS, 1, 2, 0, 1.0f, NULL, NULL, 2.0f, y);
    CHECK_NEAR(y[1], 8, 0.0);
    fire_gemm(FIRE_NO_TRANS, FIRE_NO_TRANS, 0, 2, 3, 1.0f, NULL, b32, 0.0f, y);
    CHECK_NEAR(y[1], 8, 0.0);
    fire_gemv(FIRE_TRANS, 0, 2, 1.0f, NULL, NULL, 0.0f, y);
    CHECK_NEAR(y[0], 0, 0.0);
}

TEST(vector_operations_do_what_they_say)
{
    const float x[] = {1, -2, 3};
    float       y[] = {1, 1, 1};

    fire_axpby(3, 2.0f, x, 3.0f, y);
    CHECK_NEAR(y[1], -1, 0.0);
    fire_axpy(3, 1.0f, x, y);
    CHECK_NEAR(y[2], 12, 0.0);
    CHECK_NEAR(fire_dot(3, x, x), 14, 0.0);
    CHECK_NEAR(fire_asum(3, x), 6, 0.0);
    fire_copy(3, x, y);
    CHECK_NEAR(y[1], -2, 0.0);
}

TEST(scratch_grows_and_keeps_what_it_held)
{
    fire_scratch_t s = {0};

    CHECK_OK(fire_scratch_ones(&s, 5));
    CHECK_OK(fire_scratch_fit(&s, 500));
    CHECK_NEAR(s.x[4], 1, 0.0);
    CHECK_NEAR(s.x[499], 0, 0.0);
    fire_scratch_free(&s);
    CHECK(s.x == NULL);
}

/* Rows or columns go to threads; the sum of an element stays with one. */
TEST(threads_share_a_large_product)
{
    enum { M = 100, N = 137, K = 61 };
    static float a[M * K], b[K * N], c[2][M * N];
    int          before = fire_threads();

    for (int i = 0; i < M * K; i++)
        a[i] = (float)(i * 31 % 17) - 8;
    for (int i = 0; i < K * N; i++)
        b[i] = (float)(i * 29 % 13) - 6;
    for (int t = 0; t < 4; t++) {
        fire_trans_t ta = t & 1 ? FIRE_TRANS : FIRE_NO_TRANS;
        fire_trans_t tb = t & 2 ? FIRE_TRANS : FIRE_NO_TRANS;

        for (int i = 0; i < 2; i++) {
            fire_threads_set(i == 0 ? 1 : 3);
            fire_fill(M * N, 1.0f, c[i]);
            fire_gemm(ta, tb, M, N, K, 2.0f, a, b, 1.0f, c[i]);
        }
        CHECK(memcmp(c[0], c[1], sizeof(c[0])) == 0); /* small whole numbers: exact */
        for (int i = 0; i < 2; i++) {
            fire_threads_set(i == 0 ? 1 : 3);
            fire_gemm(ta, tb, N, M, K, 2.0f, b, a, 0.0f, c[i]);
        }
        CHECK(memcmp(c[0], c[1], sizeof(c[0])) == 0);
    }
    fire_threads_set(before);
}
