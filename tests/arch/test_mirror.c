/* Tests mirror sources. tests/a/test_b.c tests src/a/b.c and its parts src/a/b_*.c, or says
 * in its head comment what it tests: files, or folders of files ("src/layers/loss/").
 *
 * Code for GPUs is not looked for here: kernels run on the nets of tests/layers/cases,
 * other tests with --gpu (`ctest -L gpu`), also without a GPU (`./dev emulate`). */
#include <ctype.h>
#include <stdlib.h>
#include "tree.h"

enum { MAX_TESTS = 512, MAX_NAMED = 1024 };

/* A test "base/text/test_json.c" is kept as "base/text/json.c". */
static char test[MAX_TESTS][96], named[MAX_NAMED][96];
static int  ntest, nnamed;

static bool has_end(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);

    return n >= m && strcmp(text + n - m, end) == 0;
}

/* ---- what tests say ---- */

/* The comment that a file begins with, ended by its last word; "" if there is none. */
static const char *head_of(char *text)
{
    char *end;

    if (strncmp(text, "/*", 2) != 0 || (end = strstr(text, "*/")) == NULL) return "";
    *end = '\0';
    return text;
}

/* Keeps the paths of a head comment; returns how many. */
static int read_head(const char *path, const char *head)
{
    int n = 0;

    for (const char *at = head; (at = strstr(at, "src/")) != NULL; n++) {
        size_t length = 0;

        while (isalnum((unsigned char)at[length]) || strchr("_./", at[length]) != NULL)
            if (at[length++] == '\0') break;
        while (at[length - 1] == '.')
            length--;
        CHECK(nnamed < MAX_NAMED);
        snprintf(named[nnamed], sizeof(named[0]), "%.*s", (int)length, at);
        if (!tree_exists(named[nnamed]))
            tree_complain(path, 1, "there is no %s", named[nnamed]);
        nnamed++;
        at += length;
    }
    return n;
}

/* "src/base/clock.h" for a test of "base/clock.c", where there is no such source. */
static bool has_source(const char *own)
{
    char path[128];

    snprintf(path, sizeof(path), "src/%s", own);
    if (tree_exists(path)) return true;
    path[strlen(path) - 1] = 'h';
    return tree_exists(path);
}

/* The rooms of src/ have tests of their own; tests/golden and the like have other aims. */
static bool is_room(const char *below_tests)
{
    char path[96];

    snprintf(path, sizeof(path), "src/%.*s", (int)strcspn(below_tests, "/"),
             below_tests);
    return tree_exists(path);
}

/* Rooms whose tests are still being sorted. */
static bool is_later(const char *path)
{
    static const char *const rooms[] = {"comm/", "sim/", "train/", "runlog/",
                                        "solver/"};

    for (size_t i = 0; i < sizeof(rooms) / sizeof(rooms[0]); i++)
        if (strncmp(strchr(path, '/') + 1, rooms[i], strlen(rooms[i])) == 0)
            return true;
    return false;
}

static void read_test(const char *path)
{
    const char *below = path + strlen("tests/"), *name = strrchr(path, '/') + 1;
    char       *text;
    int         n;

    if (strncmp(name, "test_", 5) != 0 || strncmp(below, "arch/", 5) == 0) return;
    CHECK(ntest < MAX_TESTS);
    snprintf(test[ntest], sizeof(test[0]), "%.*s%s", (int)(name - below), below,
             name + 5);
    text = tree_read(path);
    n    = read_head(path, head_of(text));
    if (n == 0 && is_room(below) && !is_later(path) && !has_source(test[ntest]))
        tree_complain(path, 1, "says in no head comment which sources it tests");
    ntest++;
    free(text);
}

/* ---- what sources have ---- */

static bool is_named(const char *path)
{
    for (int i = 0; i < nnamed; i++) {
        size_t n = strlen(named[i]);

        if (strcmp(named[i], path) == 0) return true;
        if (named[i][n - 1] == '/' && strncmp(path, named[i], n) == 0 &&
            strchr(path + n, '/') == NULL)
            return true;
    }
    return false;
}

/* "model/upgrade_v0.c" by a test of it or of "model/upgrade.c" */
static bool is_mirrored(const char *below_src)
{
    for (int i = 0; i < ntest; i++) {
        size_t n = strlen(test[i]) - strlen(".c");

        if (strncmp(below_src, test[i], n) == 0 &&
            (strcmp(below_src + n, ".c") == 0 || below_src[n] == '_'))
            return true;
    }
    return false;
}

static bool is_for_gpus(const char *path)
{
    return has_end(path, "_cuda.c") || has_end(path, "_cudnn.c") ||
           strstr(path, "/nccl") != NULL || strncmp(path, "src/device/cuda/", 16) == 0;
}

static void check_source(const char *path)
{
    if (is_later(path)) return;
    if (!is_for_gpus(path) && !is_mirrored(path + strlen("src/")) && !is_named(path))
        tree_complain(path, 0, "no test, and none that says it tests this file");
}

TEST(every_source_has_a_test_that_mirrors_or_names_it)
{
    CHECK(tree_files("tests", "c", read_test) > 10);
    CHECK(tree_files("src", "c", check_source) > 10);
    TREE_DONE();
}
