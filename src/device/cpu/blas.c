/* blas.c - row-major products through cblas, cut over the worker's threads. */
#include "device/cpu/blas.h"

#include <cblas.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "base/alloc.h"
#include "device/cpu/parallel.h"

/* Only OpenBLAS has this function; with another BLAS the symbol is NULL. */
extern void openblas_set_num_threads(int threads) __attribute__((weak));

/* Our threads call the library, each for a part of the product. OpenBLAS's own threads
 * would compete with them: they spin for a tenth of a second after every product. */
static void take_threads(void)
{
#ifdef FIRE_HAVE_OPENMP
    if (openblas_set_num_threads != NULL) openblas_set_num_threads(1);
#endif
}

/* Called before any product. */
static void settle(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, take_threads);
}

/* ---- limited addresses ---- */

/* OpenBLAS's own: a buffer, and back to its pool, where it stays. */
extern void *blas_memory_alloc(int position) __attribute__((weak));
extern void  blas_memory_free(void *buffer) __attribute__((weak));

/* Bytes of addresses that one buffer takes at most; buffers that OpenBLAS has room for. */
static const size_t BLAS_BUFFER = (size_t)136 << 20;
enum { MOST_BUFFERS = 64 };

static bool has_room(void)
{
    void *p = mmap(NULL, BLAS_BUFFER, PROT_NONE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (p == MAP_FAILED) return false;
    munmap(p, BLAS_BUFFER);
    return true;
}

/* All are held at the same time, so that the pool has so many afterwards. */
static int take_buffers(int wanted)
{
    void *buffer[MOST_BUFFERS];
    int   n = 0;

    while (n < wanted && n < MOST_BUFFERS && has_room())
        buffer[n++] = blas_memory_alloc(0);
    for (int i = 0; i < n; i++)
        blas_memory_free(buffer[i]);
    return n;
}

fire_status_t fire_blas_reserve(int threads)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static int             reserved;
    struct rlimit          most;
    int                    got;

    if (getrlimit(RLIMIT_AS, &most) != 0 || most.rlim_cur == RLIM_INFINITY ||
        blas_memory_alloc == NULL || blas_memory_free == NULL)
        return FIRE_OK;
    if (threads > MOST_BUFFERS) threads = MOST_BUFFERS;
    pthread_mutex_lock(&lock);
    if (reserved < threads) reserved = take_buffers(threads);
    got = reserved;
    pthread_mutex_unlock(&lock);
    if (got >= threads) return FIRE_OK;
    return FIRE_FAIL(
        FIRE_ERR_NOMEM,
        "addresses are limited to %.0f MB (ulimit -v): OpenBLAS needs %.0f "
        "MB for each of %d threads; raise the limit, or use fewer --threads "
        "and --workers",
        (double)most.rlim_cur / 1e6, (double)BLAS_BUFFER / 1e6, threads);
}

/* ---- products ---- */

static CBLAS_TRANSPOSE trans(fire_trans_t t)
{
    return t == FIRE_TRANS ? CblasTrans : CblasNoTrans;
}

/* The arguments of fire_gemm(). */
typedef struct product {
    fire_trans_t ta, tb;
    int64_t      m, n, k;
    float        alpha, beta;
    const float *a, *b;
    float       *c;
} product_t;

/* Rows [i0, i1) and columns [j0, j1) of C. */
static void multiply(const product_t *p, int64_t i0, int64_t i1, int64_t j0, int64_t j1)
{
    int64_t lda = p->ta == FIRE_NO_TRANS ? p->k : p->m;
    int64_t ldb = p->tb == FIRE_NO_TRANS ? p->n : p->k;

    cblas_sgemm(CblasRowMajor, trans(p->ta), trans(p->tb), (int)(i1 - i0),
                (int)(j1 - j0), (int)p->k, p->alpha,
                p->a + (p->ta == FIRE_NO_TRANS ? i0 * lda : i0), (int)lda,
                p->b + (p->tb == FIRE_NO_TRANS ? j0 : j0 * ldb), (int)ldb, p->beta,
                p->c + i0 * p->n + j0, (int)p->n);
}

/* Where part i of `parts` of n elements begins: at a multiple of VECTOR. */
static int64_t part_begin(int64_t n, int64_t parts, int64_t i)
{
    enum { VECTOR = 16 };
    int64_t at = (n / VECTOR + 1) * i / parts * VECTOR;

    return i == parts || at > n ? n : at;
}

void fire_gemm(fire_trans_t ta, fire_trans_t tb, int64_t m, int64_t n, int64_t k,
               float alpha, const float *a, const float *b, float beta, float *c)
{
    enum { FEW = 1 << 18 }; /* multiply-adds that are not worth a second thread */
    const product_t p     = {ta, tb, m, n, k, alpha, beta, a, b, c};
    int64_t         parts = m * n * k < FEW ? 1 : fire_threads();

    if (m == 0 || n == 0) return;
    if (k == 0) {
        fire_scal(m * n, beta, c);
        return;
    }
    settle();
    FIRE_PARALLEL(i, parts, parts > 1)
    {
        if (m > n)
            multiply(&p, part_begin(m, parts, i), part_begin(m, parts, i + 1), 0, n);
        else
            multiply(&p, 0, m, part_begin(n, parts, i), part_begin(n, parts, i + 1));
    }
}

void fire_gemv(fire_trans_t ta, int64_t m, int64_t n, float alpha, const float *a,
               const float *x, float beta, float *y)
{
    settle();
    if (m == 0 || n == 0)
        fire_scal(ta == FIRE_TRANS ? n : m, beta, y);
    else
        cblas_sgemv(CblasRowMajor, trans(ta), (int)m, (int)n, alpha, a, (int)n, x, 1,
                    beta, y, 1);
}

/* cblas counts in int: longer vectors are cut into pieces. */
enum { PIECE = 1 << 30 };

static int piece(int64_t left)
{
    return (int)(left < PIECE ? left : PIECE);
}

void fire_axpy(int64_t n, float alpha, const float *x, float *y)
{
    settle();
    for (int64_t i = 0; i < n; i += PIECE)
        cblas_saxpy(piece(n - i), alpha, x + i, 1, y + i, 1);
}

void fire_scal(int64_t n, float alpha, float *x)
{
    settle();
    for (int64_t i = 0; i < n; i += PIECE)
        cblas_sscal(piece(n - i), alpha, x + i, 1);
}

float fire_dot(int64_t n, const float *x, const float *y)
{
    float sum = 0.0f;

    settle();
    for (int64_t i = 0; i < n; i += PIECE)
        sum += cblas_sdot(piece(n - i), x + i, 1, y + i, 1);
    return sum;
}

float fire_asum(int64_t n, const float *x)
{
    float sum = 0.0f;

    settle();
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
