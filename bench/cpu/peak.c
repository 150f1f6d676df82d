/* peak.c - measures what this machine can reach, to compare times of nets with: GFLOP/s
 * of a matrix product, GB/s of copies of large arrays (memory) and of smaller ones
 * (caches). Prints one line of JSON:
 *
 *     bench_peak [THREADS] */
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "device/cpu/blas.h"
#include "device/cpu/parallel.h"
#include "device/cpu/raw.h"

enum { SIDE = 2048, ROUNDS = 7, STREAM = 1 << 25, SMALLEST = 1 << 18 };

static double best(double a, double b)
{
    return a > b ? a : b;
}

static fire_status_t gemm_gflops(double *gflops_p)
{
    double most = 0;
    float *x;

    FIRE_TRY(FIRE_NEW(&x, 3 * SIDE * SIDE));
    fire_fill(2 * SIDE * SIDE, 0.5f, x);
    for (int i = 0; i < ROUNDS; i++) {
        double begin = fire_clock_now();

        fire_gemm(FIRE_NO_TRANS, FIRE_NO_TRANS, SIDE, SIDE, SIDE, 1.0f, x,
                  x + SIDE * SIDE, 0.0f, x + 2 * SIDE * SIDE);
        most =
            best(most, 2e-9 * SIDE * SIDE * (double)SIDE / (fire_clock_now() - begin));
    }
    fire_free(x);
    *gflops_p = most;
    return FIRE_OK;
}

/* GB/s of copying n floats, counting bytes read and bytes written. */
static fire_status_t copy_gbs(int64_t n, double *gbs_p)
{
    double most = 0;
    float *x;

    FIRE_TRY(FIRE_NEW(&x, 2 * n));
    for (int64_t i = 0; i < ROUNDS * (STREAM / n); i++) {
        double begin = fire_clock_now();

        fire_raw_relu(FIRE_F32, n, 0.5f, x, x + n);
        most = best(most, 8e-9 * (double)n / (fire_clock_now() - begin));
    }
    fire_free(x);
    *gbs_p = most;
    return FIRE_OK;
}

static int fail(void)
{
    fprintf(stderr, "bench_peak: %s\n", fire_last_error());
    return 1;
}

int main(int argc, char **argv)
{
    double gflops, gbs;

    fire_threads_set(argc > 1 ? atoi(argv[1]) : 0);
    if (gemm_gflops(&gflops) < 0 || copy_gbs(STREAM, &gbs) < 0) return fail();
    printf("{\"threads\": %d, \"sgemm_gflops\": %.1f, \"copy_gb_per_s\": %.1f, "
           "\"copies\": [",
           fire_threads(), gflops, gbs);
    for (int64_t n = SMALLEST; n <= STREAM; n *= 2) {
        if (copy_gbs(n, &gbs) < 0) return fail();
        printf("%s[%.1f, %.1f]", n > SMALLEST ? ", " : "", 8e-6 * (double)n, gbs);
    }
    puts("]}");
    return 0;
}
