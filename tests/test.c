/* test.c - runs the tests of one program, each in a process of its own, so that
 * a crash, a leak of state or an endless loop in one cannot hide another.
 *
 *   program [--file test_x.c] [--here] [--gpu[=PRECISION]] [part of a name]
 *
 * --here runs them in this process (for a debugger, or a checker that does not follow
 * children). Prints one line per test and "N passed, M failed" at the end. The source tree
 * is where it was built, or where FIRE_SOURCE_DIR says. */
#include "test.h"
#include "gpu.h"

#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef TEST_EMULATED /* another processor is emulated, which is slow */
#    define TEST_EMULATED 0
#endif
enum { SKIPPED = 77, TEST_SECONDS = TEST_SANITIZED || TEST_EMULATED ? 1500 : 300 };

static test_case_t *first;
static char         tmpdir[512];
static bool         in_this_process;
static jmp_buf      left_out; /* where a test that is skipped goes */
static const char  *gpu;      /* the precision that --gpu asked for, or NULL */

void test_add(test_case_t *t)
{
    test_case_t **at = &first;

    while (*at != NULL)
        at = &(*at)->next;
    *at = t;
}

void test_fail(const char *file, int line, const char *format, ...)
{
    va_list ap;

    fprintf(stderr, "    %s:%d: ", file, line);
    va_start(ap, format);
    vfprintf(stderr, format, ap);
    va_end(ap);
    fputc('\n', stderr);
    fflush(NULL);
    if (in_this_process) abort();
    _exit(1);
}

void test_skip(const char *why)
{
    fprintf(stderr, "    skipped: %s\n", why);
    fflush(NULL);
    if (in_this_process) longjmp(left_out, 1);
    _exit(SKIPPED);
}

const char *test_tmpdir(void)
{
    if (tmpdir[0] == '\0') {
        const char *moved = getenv("FIRE_SOURCE_DIR");

        snprintf(tmpdir, sizeof(tmpdir), "%s/tmp.XXXXXX",
                 moved != NULL ? "/tmp" : FIRE_BUILD_DIR);
        if (mkdtemp(tmpdir) == NULL)
            test_fail(__FILE__, __LINE__, "mkdtemp %s", tmpdir);
    }
    return tmpdir;
}

static const char *join(const char *dir, const char *name)
{
    static char path[16][1024];
    static int  turn;
    char       *p = path[turn++ % 16];

    snprintf(p, sizeof(path[0]), "%s/%s", dir, name);
    return p;
}

const char *test_path(const char *name)
{
    return join(test_tmpdir(), name);
}

const char *test_source(const char *relative)
{
    const char *moved = getenv("FIRE_SOURCE_DIR");

    return join(moved != NULL ? moved : FIRE_SOURCE_DIR, relative);
}

/* ---- gpu.h ---- */

bool test_on_gpu(void)
{
    return gpu != NULL;
}

fire_ctx_t test_ctx(void)
{
    fire_ctx_t  ctx = FIRE_CTX_INIT;
    const char *why;

    if (test_on_gpu() && !test_open_gpu(gpu, &ctx, &why)) {
        fprintf(stderr, "    cannot open the GPU: %s\n", why);
        exit(1);
    }
    return ctx;
}

double test_tolerance(double of_float32)
{
    if (!test_on_gpu() || strcmp(gpu, "fp32") == 0) return of_float32;
    return strcmp(gpu, "bf16") == 0 ? 0.03 : 0.004;
}

/* ---- running ---- */

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *f)
{
    (void)st, (void)flag, (void)f;
    return remove(path);
}

static int run_here(const test_case_t *t)
{
    volatile int rc = SKIPPED;

    if (setjmp(left_out) == 0) {
        t->run();
        rc = 0;
    }
    if (tmpdir[0] != '\0') nftw(tmpdir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    tmpdir[0] = '\0';
    return rc;
}

static int run_apart(const test_case_t *t)
{
    int   status = 0;
    pid_t pid;

    fflush(NULL);
    pid = fork();
    if (pid == 0) {
        alarm(TEST_SECONDS);
        run_here(t);
        fflush(NULL);
        exit(0); /* not _exit: leak checkers report here */
    }
    waitpid(pid, &status, 0);
    if (WIFSIGNALED(status))
        fprintf(stderr, "    ended by signal %d\n", WTERMSIG(status));
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

static bool in_file(const test_case_t *t, const char *file)
{
    const char *slash = strrchr(t->file, '/');

    return file == NULL || strcmp(slash != NULL ? slash + 1 : t->file, file) == 0;
}

/* Asked in a process of its own: CUDA, once used, does not survive a fork. */
static bool has_gpu(void)
{
    int         status = 0;
    const char *why;
    pid_t       pid;

    fflush(NULL);
    pid = fork();
    if (pid == 0) {
        if (fire_gpu_count(&why) > 0) _exit(0);
        printf("skipped: there is no GPU here (%s)\n", why);
        fflush(NULL);
        _exit(SKIPPED);
    }
    waitpid(pid, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

int main(int argc, char **argv)
{
    const char *file = NULL, *part = "";
    int         passed = 0, failed = 0, skipped = 0;

    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--file") == 0 && i + 1 < argc)
            file = argv[++i];
        else if (strcmp(argv[i], "--here") == 0)
            in_this_process = true;
        else if (strncmp(argv[i], "--gpu", 5) == 0)
            gpu = argv[i][5] == '=' ? argv[i] + 6 : "fp32";
        else
            part = argv[i];
    }
    if (gpu != NULL && !has_gpu()) return SKIPPED;
    for (const test_case_t *t = first; t != NULL; t = t->next) {
        int rc;

        if (!in_file(t, file) || strstr(t->name, part) == NULL) continue;
        rc = in_this_process ? run_here(t) : run_apart(t);
        printf("%-7s %s\n",
               rc == 0         ? "ok"
               : rc == SKIPPED ? "skipped"
                               : "FAILED",
               t->name);
        rc == 0 ? passed++ : rc == SKIPPED ? skipped++ : failed++;
    }
    printf("%d passed, %d failed, %d skipped\n", passed, failed, skipped);
    if (failed > 0) return 1;
    return passed == 0 && skipped > 0 ? SKIPPED : 0;
}
