/* What the shared library exports is what the public headers mark, no more and no
 * less; and each header stands on its own in C and C++. */
#include <ctype.h>
#include <stdlib.h>
#include <unistd.h>
#include "tree.h"

enum { MAX_NAMES = 1024 };

typedef struct names {
    char name[MAX_NAMES][96];
    int  n;
} names_t;

static names_t marked, exported;

static void add(names_t *list, const char *name, size_t n)
{
    CHECK(list->n < MAX_NAMES);
    snprintf(list->name[list->n++], sizeof(list->name[0]), "%.*s", (int)n, name);
}

static bool has(const names_t *list, const char *name)
{
    for (int i = 0; i < list->n; i++)
        if (strcmp(list->name[i], name) == 0) return true;
    return false;
}

/* The function declared behind a mark: the last name before its "(". A declaration
 * that the formatter broke before the name continues on the next line. */
static void find_marked(const char *path, int number, const char *line)
{
    static bool open;
    const char *paren, *begin;

    (void)number;
    if (strstr(path, "/api.h") != NULL) return;
    if (strncmp(line, "FIRE_API", 8) == 0 || strncmp(line, "FIRE_CALL", 9) == 0)
        open = true;
    paren = strchr(line, '(');
    if (!open || paren == NULL) return;
    begin = paren;
    while (begin > line && (isalnum((unsigned char)begin[-1]) || begin[-1] == '_'))
        begin--;
    add(&marked, begin, (size_t)(paren - begin));
    open = false;
}

/* A symbol is listed as NAME@@FIRE_0, and the version FIRE_0 itself as a symbol too. */
static void find_exported(void)
{
    FILE *f = popen("nm -D --defined-only '" FIRE_BUILD_DIR "/libfire.so'", "r");
    char  line[512], name[256];

    CHECK(f != NULL);
    while (fgets(line, sizeof(line), f) != NULL)
        if (sscanf(line, "%*s %*s %255[^@\n]", name) == 1 &&
            strncmp(name, "__", 2) != 0 && strncmp(name, "FIRE_", 5) != 0)
            add(&exported, name, strlen(name));
    CHECK(pclose(f) == 0);
}

TEST(the_library_exports_exactly_what_its_headers_mark)
{
    CHECK(tree_lines("include/fire", "h", find_marked) > 0);
    find_exported();
    CHECK(marked.n > 0);
    for (int i = 0; i < marked.n; i++)
        if (!has(&exported, marked.name[i]))
            tree_complain("include/fire", 0, "%s is marked, not exported",
                          marked.name[i]);
    for (int i = 0; i < exported.n; i++)
        if (!has(&marked, exported.name[i]))
            tree_complain("libfire.so", 0, "%s is exported, not marked",
                          exported.name[i]);
    TREE_DONE();
}

/* Who adds or removes a public function does so knowingly: abi.txt is kept by hand. */
static names_t listed;

static void read_listed(const char *path, int number, const char *line)
{
    size_t n = strcspn(line, "\n");

    if (n == 0) return;
    add(&listed, line, n);
    if (listed.n > 1 &&
        strcmp(listed.name[listed.n - 2], listed.name[listed.n - 1]) >= 0)
        tree_complain(path, number, "%s is not in alphabetical order",
                      listed.name[listed.n - 1]);
}

TEST(the_list_of_exported_functions_is_abi_txt)
{
    exported.n = listed.n = 0;
    tree_file_lines("abi.txt", read_listed);
    find_exported();
    for (int i = 0; i < exported.n; i++)
        if (!has(&listed, exported.name[i]))
            tree_complain("abi.txt", 0, "does not list %s", exported.name[i]);
    for (int i = 0; i < listed.n; i++)
        if (!has(&exported, listed.name[i]))
            tree_complain("abi.txt", 0, "%s is not exported", listed.name[i]);
    TREE_DONE();
}

/* A public function that no test in tests/api/ calls. */
static char *api_tests;

static void add_test_text(const char *path)
{
    char *text  = tree_read(path), *longer;
    bool  first = api_tests == NULL;

    longer = realloc(api_tests, (first ? 0 : strlen(api_tests)) + strlen(text) + 1);
    CHECK(longer != NULL);
    if (first) longer[0] = '\0';
    api_tests = strcat(longer, text);
    free(text);
}

static void check_tested(const char *path, int number, const char *line)
{
    char call[128];

    snprintf(call, sizeof(call), "%.*s(", (int)strcspn(line, "\n"), line);
    if (strlen(call) > 1 && strstr(api_tests, call) == NULL)
        tree_complain(path, number, "no test in tests/api calls %s)", call);
}

TEST(every_exported_function_is_called_by_a_test_of_the_public_headers)
{
    CHECK(tree_files("tests/api", "c", add_test_text) > 0);
    tree_file_lines("abi.txt", check_tested);
    free(api_tests);
    api_tests = NULL;
    TREE_DONE();
}

static const char *compiler_line;

static void compile_first_line(const char *path, int number, const char *line)
{
    char command[2048];

    (void)line;
    if (number != 1) return;
    snprintf(command, sizeof(command),
             "echo '#include <%s>' | %s -Wall -Wextra -Wpedantic -Werror -fsyntax-only "
             "-I'%s' -",
             path + strlen("include/"), compiler_line, test_source("include"));
    if (system(command) != 0) tree_complain(path, 1, "does not compile alone");
}

TEST(each_public_header_compiles_alone_as_c11)
{
    compiler_line = "cc -std=c11 -x c";
    CHECK(tree_lines("include/fire", "h", compile_first_line) > 0);
    TREE_DONE();
}

TEST(each_public_header_compiles_alone_as_cpp17)
{
    if (system("command -v c++ >/dev/null") != 0) test_skip("no C++ compiler");
    compiler_line = "c++ -std=c++17 -x c++";
    CHECK(tree_lines("include/fire", "h", compile_first_line) > 0);
    TREE_DONE();
}
