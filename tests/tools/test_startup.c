/* How the program starts: what the system has to open first, and how long that takes.
 * Tests tools/firecaffe.c, cmake/deps.cmake, src/device/cpu/early.c. */
#include <stdlib.h>
#include <sys/resource.h>

#include "program.h"

/* Libraries that may be opened with every start. What only some users need (MPI, CUDA,
 * Python) is opened when it is needed: see src/device/cuda/libs.h, load_mpi.c. */
static const char *const allowed[] = {
    "linux-vdso",     "ld-linux",       "libc.",         "libm.",     "libgcc_s.",
    "libstdc++.",     "libpthread.",    "libdl.",        "librt.",    "libgomp.",
    "libprotobuf-c.", "liblmdb.",       "libopenblas",   "libcblas.", "libblas.",
    "libleveldb.",    "libhdf5",        "libjpeg.",      "libpng",    "libz.",
    "libdnnl.",       "libmicrohttpd.", "libfire_early."};

static bool is_allowed(const char *library)
{
    for (size_t i = 0; i < sizeof(allowed) / sizeof(allowed[0]); i++)
        if (strncmp(library, allowed[i], strlen(allowed[i])) == 0) return true;
    return false;
}

TEST(the_program_is_linked_with_no_library_that_can_be_opened_later)
{
    int n = 0;

    if (TEST_SANITIZED) test_skip("sanitizers are libraries too");
    if (sh("command -v readelf") != 0) test_skip("no readelf (Debian: binutils)");
    SH_OK("readelf -d $(command -v firecaffe) | sed -n "
          "'s/.*(NEEDED).*\\[\\(.*\\)\\]/\\1/p'");
    for (char *rest, *name = strtok_r(ran.out, "\n", &rest); name != NULL;
         name = strtok_r(NULL, "\n", &rest), n++)
        if (!is_allowed(name))
            test_fail(__FILE__, __LINE__,
                      "the program is linked with %s: open it when it is needed, or "
                      "list it in tests/tools/test_startup.c",
                      name);
    CHECK(n >= 4);
}

TEST(asking_for_the_version_opens_no_library_besides)
{
    if (TEST_SANITIZED) test_skip("sanitizers open libraries too");
    SH_OK("LD_DEBUG=files firecaffe --version 2>&1 >/dev/null |"
          "  { ! grep 'dynamically loaded by'; }");
}

/* libgomp shows what it has read from its environment: 300000 if nobody sets anything. */
TEST(threads_of_openmp_sleep_soon_unless_the_user_says_otherwise)
{
    long spins;

    if (sh("ldd $(command -v firecaffe) | grep -q libgomp") != 0)
        test_skip("built without OpenMP, or by a compiler with one of its own");
    SH_OK("env -u GOMP_SPINCOUNT -u OMP_WAIT_POLICY OMP_DISPLAY_ENV=VERBOSE firecaffe "
          "--version 2>&1 | sed -n \"s/.*GOMP_SPINCOUNT = '\\([0-9]*\\)'.*/\\1/p\"");
    spins = atol(ran.out);
    CHECK(spins > 100 && spins < 200000);
    SH_OK("GOMP_SPINCOUNT=77 OMP_DISPLAY_ENV=VERBOSE firecaffe --version 2>&1 | "
          "grep \"GOMP_SPINCOUNT = '77'\"");
    SH_OK("env -u GOMP_SPINCOUNT OMP_WAIT_POLICY=passive OMP_DISPLAY_ENV=VERBOSE "
          "firecaffe --version 2>&1 | grep \"GOMP_SPINCOUNT = '0'\"");
}

static double cpu_seconds(void)
{
    struct rusage r;

    getrusage(RUSAGE_CHILDREN, &r);
    return (double)(r.ru_utime.tv_sec + r.ru_stime.tv_sec) +
           1e-6 * (double)(r.ru_utime.tv_usec + r.ru_stime.tv_usec);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Processor time, which other programs do not disturb; the shell's own is part of it. */
TEST(the_program_starts_within_50_milliseconds)
{
    enum { RUNS = 21 };
    double t[RUNS];

    if (TEST_SANITIZED) test_skip("sanitizers start slowly");
    for (int i = 0; i < RUNS; i++) {
        double began = cpu_seconds();

        SH_OK("firecaffe --version");
        t[i] = cpu_seconds() - began;
    }
    qsort(t, RUNS, sizeof(t[0]), by_value);
    if (t[RUNS / 2] >= 0.05)
        test_fail(__FILE__, __LINE__, "a start takes %.1f ms of processor time",
                  1e3 * t[RUNS / 2]);
}
