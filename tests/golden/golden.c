/* golden.c - run every case below a folder and compare with Caffe:
 *
 *     golden [-v] [--fast | --gpu] DIR [CASE...]      -v prints one line per case
 *
 * With `ref` kernels, or with those that are taken where nobody asks for others (--fast,
 * two threads), or on a GPU.
 *
 * Ends with `N passed, M failed` and how many cases agree bit for bit, those that Caffe
 * recorded and those that were computed apart from it counted separately. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "device/cpu/parallel.h"
#include "golden.h"
#include "gpu.h"
#include "layers/python/python.h"

enum { FAST_THREADS = 2 };

static fire_ctx_t ctx = {.deterministic = true, .kernels = "all=ref", .threads = 1};

fire_ctx_t golden_ctx(void)
{
    return ctx;
}

static fire_status_t run_kind(golden_case_t *c)
{
    const char *kind  = fire_json_string_or(c->json, "kind", "layer");
    const char *needs = fire_json_string_or(c->json, "needs", "");

    if (strcmp(needs, "python") == 0 && !fire_python_is_here()) {
        c->skipped = true;
        snprintf(c->where, sizeof(c->where), "there is no libpython3 here");
        return FIRE_OK;
    }
    if (strcmp(kind, "layer") == 0) return golden_run_layer(c);
    if (strcmp(kind, "solver") == 0) return golden_run_solver(c);
    if (strcmp(kind, "trace") == 0) return golden_run_trace(c);
    if (strcmp(kind, "parallel") == 0) return golden_run_parallel(c);
    return FIRE_FAIL(FIRE_ERR_UNSUPPORTED, "unknown kind of case \"%s\"", kind);
}

/* Beside a case lie all others, as links, since some read data of another. The case
 * itself is a copy, since some write beside what they read. */
static fire_status_t enter(const char *from, const char *to)
{
    unlink(to);
    FIRE_TRY(golden_copy_tree(from, to));
    if (chdir(to) != 0) return FIRE_FAIL(FIRE_ERR_IO, "%s: %s", to, strerror(errno));
    return FIRE_OK;
}

static void leave(const char *from, const char *to, const char *scratch)
{
    if (chdir(scratch) == 0) golden_remove_tree(to);
    if (symlink(from, to) != 0) fprintf(stderr, "%s: %s\n", to, strerror(errno));
}

static void run_case(golden_case_t *c, const char *dir, const char *scratch)
{
    char          from[4096], to[4096];
    fire_status_t st;

    snprintf(from, sizeof(from), "%s/%s", dir, c->name);
    snprintf(to, sizeof(to), "%s/%s", scratch, c->name);
    c->passed = c->exact = true;
    st                   = enter(from, to);
    if (st >= 0) st = fire_json_load("case.json", &c->json);
    if (st >= 0) {
        const char *source = fire_json_string_or(c->json, "source", "Caffe");

        c->independent = strcmp(source, "independent") == 0;
        golden_set_tolerance(c);
        st = run_kind(c);
    }
    if (st < 0) golden_reject(c, "%s", fire_last_error());
    fire_json_free(c->json);
    c->json = NULL;
    leave(from, to, scratch);
}

typedef struct tally {
    int passed, failed, exact, skipped;
} tally_t;

static void report(const golden_case_t *c, bool verbose, tally_t *t)
{
    t->passed += c->passed && !c->skipped;
    t->failed += !c->passed;
    t->exact += c->exact && !c->skipped;
    t->skipped += c->skipped;
    if (c->skipped)
        printf("skipped %s: %s\n", c->name, c->where);
    else if (!c->passed)
        printf("FAILED %s: largest error %.3g (allowed %.3g%s): %s\n", c->name,
               c->worst, c->tolerance, c->absolute ? ", absolute" : "", c->where);
    else if (verbose && c->exact)
        printf("exact  %s\n", c->name);
    else if (verbose)
        printf("passed %s: largest error %.3g: %s\n", c->name, c->worst, c->where);
    fflush(stdout);
}

static int conclude(const tally_t *caffe, const tally_t *other)
{
    int passed = caffe->passed + other->passed, failed = caffe->failed + other->failed;
    int skipped = caffe->skipped + other->skipped;

    if (caffe->passed + caffe->failed > 0)
        printf("%d of %d cases agree with Caffe bit for bit\n", caffe->exact,
               caffe->passed + caffe->failed);
    if (other->passed + other->failed > 0)
        printf("%d of %d cases agree with an independent computation, %d bit for bit\n",
               other->passed, other->passed + other->failed, other->exact);
    if (skipped > 0) printf("%d cases skipped\n", skipped);
    printf("%d passed, %d failed\n", passed, failed);
    return failed > 0 || passed == 0 ? 1 : 0;
}

static bool is_wanted(const char *dir, const char *name, int nwanted, char **wanted)
{
    char path[4096];
    bool named = nwanted == 0;

    for (int i = 0; i < nwanted; i++)
        named |= strcmp(name, wanted[i]) == 0;
    snprintf(path, sizeof(path), "%s/%s/case.json", dir, name);
    return named && access(path, R_OK) == 0;
}

static int run_all(const char *dir, const char *scratch, int n, struct dirent **entry,
                   int nwanted, char **wanted, bool verbose)
{
    tally_t caffe = {0}, other = {0};

    for (int i = 0; i < n; i++) {
        golden_case_t c = {.name = entry[i]->d_name};

        if (!is_wanted(dir, c.name, nwanted, wanted)) continue;
        run_case(&c, dir, scratch);
        report(&c, verbose, c.independent ? &other : &caffe);
    }
    return conclude(&caffe, &other);
}

static int not_hidden(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

/* Folders in the order of their names, each with a link in the scratch folder. */
static int list_cases(const char *dir, const char *scratch, struct dirent ***entry_p)
{
    int n = scandir(dir, entry_p, not_hidden, alphasort);

    for (int i = 0; i < n; i++) {
        char from[4096], to[4096];

        snprintf(from, sizeof(from), "%s/%s", dir, (*entry_p)[i]->d_name);
        snprintf(to, sizeof(to), "%s/%s", scratch, (*entry_p)[i]->d_name);
        if (symlink(from, to) != 0) return -1;
    }
    return n;
}

static int usage(void)
{
    fprintf(stderr, "usage: golden [-v] [--fast | --gpu] DIR [CASE...]\n");
    return 2;
}

int main(int argc, char **argv)
{
    char            scratch[] = "/tmp/golden.XXXXXX";
    bool            verbose   = false;
    struct dirent **entry;
    const char     *why;
    char           *dir;
    int             rc, n;

    for (; argc > 1 && argv[1][0] == '-'; argc--, argv++) {
        if (strcmp(argv[1], "-v") == 0)
            verbose = true;
        else if (strcmp(argv[1], "--fast") == 0)
            ctx.kernels = NULL, ctx.threads = FAST_THREADS;
        else if (strcmp(argv[1], "--gpu") != 0)
            return usage();
        else if (!test_open_gpu("fp32", &ctx, &why))
            return printf("skipped: there is no GPU here (%s)\n", why), 77;
        else
            ctx.exact = true;
    }
    if (argc < 2 || (dir = realpath(argv[1], NULL)) == NULL) return usage();
    fire_threads_set(ctx.threads > 0 ? ctx.threads : 1);
    if (mkdtemp(scratch) == NULL || (n = list_cases(dir, scratch, &entry)) < 0) {
        fprintf(stderr, "%s: %s\n", scratch, strerror(errno));
        return 2;
    }
    rc = run_all(dir, scratch, n, entry, argc - 2, argv + 2, verbose);
    for (int i = 0; i < n; i++)
        free(entry[i]);
    free(entry);
    if (chdir("/") == 0) golden_remove_tree(scratch);
    free(dir);
    fire_gpu_close(ctx.stream);
    return rc;
}
