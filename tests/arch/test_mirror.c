/* Tests mirror sources. tests/a/test_b.c tests src/a/b.c and its parts src/a/b_*.c, or says
 * in its head comment what it tests: files, or folders of files ("src/layers/loss/"). In
 * the same way tests/tools/ mirrors tools/.
 *
 * Code for GPUs is not looked for here: kernels run on the nets of tests/layers/cases,
 * other tests with --gpu (`ctest -L gpu`), also without a GPU (`./dev emulate`). */
#include <ctype.h>
#include <stdlib.h>
#include "tree.h"

enum { MAX_TESTS = 512, MAX_NAMED = 1024 };

/* A test "tests/base/text/test_json.c" is kept as "src/base/text/json.c". */
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

static bool in_path(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '.' || c == '/';
}

/* Keeps the paths of a head comment that begin so; returns how many. */
static int read_head(const char *path, const char *head, const char *root)
{
    int n = 0;

    for (const char *at = head; (at = strstr(at, root)) != NULL;) {
        size_t length = 0;

        if (at > head && in_path(at[-1])) { /* "tests/tools/..." */
            at++;
            continue;
        }
        while (in_path(at[length]))
            length++;
        while (at[length - 1] == '.')
            length--;
        CHECK(nnamed < MAX_NAMED);
        snprintf(named[nnamed], sizeof(named[0]), "%.*s", (int)length, at);
        if (!tree_exists(named[nnamed]))
            tree_complain(path, 1, "there is no %s", named[nnamed]);
        nnamed++;
        n++;
        at += length;
    }
    return n;
}

/* There, or a header of that name. */
static bool has_source(const char *own)
{
    char header[128];

    snprintf(header, sizeof(header), "%s", own);
    header[strlen(header) - 1] = 'h';
    return tree_exists(own) || tree_exists(header);
}

/* The rooms of src/ and tools/ have tests of their own; tests/golden and the like have
 * other aims. */
static bool is_room(const char *own)
{
    char path[96];

    snprintf(path, sizeof(path), "%.*s",
             (int)(strcspn(own, "/") + 1 + strcspn(strchr(own, '/') + 1, "/")), own);
    return strncmp(own, "tools/", 6) == 0 || tree_exists(path);
}

static void read_test(const char *path)
{
    const char *below = path + strlen("tests/"), *name = strrchr(path, '/') + 1;
    const char *head;
    char       *text;
    int         n;

    if (strncmp(name, "test_", 5) != 0 || strncmp(below, "arch/", 5) == 0) return;
    CHECK(ntest < MAX_TESTS);
    snprintf(test[ntest], sizeof(test[0]), "%s%.*s%s",
             strncmp(below, "tools/", 6) == 0 ? "" : "src/", (int)(name - below), below,
             name + 5);
    text = tree_read(path);
    head = head_of(text);
    n    = read_head(path, head, "src/") + read_head(path, head, "tools/");
    if (n == 0 && is_room(test[ntest]) && !has_source(test[ntest]))
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

/* "src/model/upgrade_v0.c" by a test of it or of "src/model/upgrade.c" */
static bool is_mirrored(const char *path)
{
    for (int i = 0; i < ntest; i++) {
        size_t n = strlen(test[i]) - strlen(".c");

        if (strncmp(path, test[i], n) == 0 &&
            (strcmp(path + n, ".c") == 0 || path[n] == '_'))
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
    if (!is_for_gpus(path) && !is_mirrored(path) && !is_named(path))
        tree_complain(path, 0, "no test, and none that says it tests this file");
}

TEST(every_source_has_a_test_that_mirrors_or_names_it)
{
    CHECK(tree_files("tests", "c", read_test) > 10);
    CHECK(tree_files("src", "c", check_source) > 10);
    CHECK(tree_files("tools/cmd", "c", check_source) > 10);
    TREE_DONE();
}
