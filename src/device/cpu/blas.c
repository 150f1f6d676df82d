#include "device/cpu/blas.h"

#include <cblas.h>
#include <string.h>

#include "base/alloc.h"

static CBLAS_TRANSPOSE trans(fire_trans_t t)
{
    return t == FIRE_TRANS ? CblasTrans : CblasNoTrans;
}

void fire_gemm(fire_trans_t ta, fire_trans_t tb, int64_t m, int64_t n, int64_t k,
               float alpha, const float *a, const float *b, float beta, float *c)
{
    int lda = (int)(ta == FIRE_NO_TRANS ? k : m);
    int ldb = (int)(tb == FIRE_NO_TRANS ? n : k);

    if (m == 0 || n == 0) return;
    if (k == 0) {
        fire_scal(m * n, beta, c);
        return;
    }
    cblas_sgemm(CblasRowMajor, trans(ta), trans(tb), (int)m, (int)n, (int)k, alpha, a,
                lda, b, ldb, beta, c, (int)n);
}

void fire_gemv(fire_trans_t ta, int64_t m, int64_t n, float alpha, const float *a,
               const float *x, float beta, float *y)
{
    if (m == 0 || n == 0)
        fire_scal(ta == FIRE_TRANS ? n : m, beta, y);
    else
        cblas_sgemv(CblasRowMajor, trans(ta), (int)m, (int)n, alpha, a, (int)n, x, 1,
                    beta, y, 1);
}

/* cblas counts in int: longer vectors go in pieces. */
enum { PIECE = 1 << 30 };

static int piece(int64_t left)
{
    return (int)(left < PIECE ? left : PIECE);
}

void fire_axpy(int64_t n, float alpha, const float *x, float *y)
{
    for (int64_t i = 0; i < n; i += PIECE)
        cblas_saxpy(piece(n - i), alpha, x + i, 1, y + i, 1);
}

void fire_scal(int64_t n, float alpha, float *x)
{
    for (int64_t i = 0; i < n; i += PIECE)
        cblas_sscal(piece(n - i), alpha, x + i, 1);
}

float fire_dot(int64_t n, const float *x, const float *y)
{
    float sum = 0.0f;

    for (int64_t i = 0; i < n; i += PIECE)
        sum += cblas_sdot(piece(n - i), x + i, 1, y + i, 1);
    return sum;
}

float fire_asum(int64_t n, const float *x)
{
    float sum = 0.0f;

    for (int64_t i = 0; i < n; i += PIECE)
        sum += cblas_sasum(piece(n - i), x + i, 1);
    return sum;
}

void fire_axpby(int64_t n, float alpha, const float *x, float beta, float *y)
{
    fire_scal(n, beta, y);
    fire_axpy(n, alpha, x, y);
}

void fire_fill(int64_t n, float value, float *x)
{
    for (int64_t i = 0; i < n; i++)
        x[i] = value;
}

void fire_copy(int64_t n, const float *x, float *y)
{
    if (x != y && n > 0) memcpy(y, x, (size_t)n * sizeof(*y));
}

/* Only OpenBLAS has this; the reference leaves it undefined elsewhere. */
extern void openblas_set_num_threads(int threads) __attribute__((weak));

void fire_blas_set_threads(int threads)
{
    if (openblas_set_num_threads != NULL && threads > 0)
        openblas_set_num_threads(threads);
}

fire_status_t fire_scratch_fit(fire_scratch_t *s, int64_t n)
{
    return fire_grow(&s->x, &s->cap, n, sizeof(*s->x));
}

fire_status_t fire_scratch_ones(fire_scratch_t *s, int64_t n)
{
    FIRE_TRY(fire_scratch_fit(s, n));
    fire_fill(n, 1.0f, s->x);
    return FIRE_OK;
}

void fire_scratch_free(fire_scratch_t *s)
{
    fire_free(s->x);
    *s = (fire_scratch_t){0};
}
