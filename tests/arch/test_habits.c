/* Rules for what stands in a file, and how long it is. */
#include <ctype.h>
#include <stdlib.h>
#include "tree.h"

/* A call of this function, not a longer name that ends so, not in a comment. */
static bool calls(const char *line, const char *function)
{
    size_t n = strlen(function);

    for (const char *at = line; (at = strstr(at, function)) != NULL; at += n) {
        bool begins = at == line || !(isalnum((unsigned char)at[-1]) || at[-1] == '_' ||
                                      at[-1] == '.' || at[-1] == '>');

        if (begins && at[n] == '(') return true;
    }
    return false;
}

static bool is_comment(const char *line)
{
    line += strspn(line, " \t");
    return strncmp(line, "/*", 2) == 0 || line[0] == '*';
}

static void check_calls(const char *path, int number, const char *line)
{
    static const char *const forbidden[] = {"printf", "fprintf", "puts",   "putchar",
                                            "perror", "exit",    "_exit",  "abort",
                                            "assert", "system",  "malloc", "calloc"};

    if (is_comment(line) || strcmp(path, "src/base/alloc.c") == 0) return;
    /* A child that could not become another program has nowhere to return to. */
    if ((strcmp(path, "src/launch/attempt.c") == 0 ||
         strcmp(path, "src/launch/question.c") == 0) &&
        calls(line, "_exit"))
        return;
    for (size_t i = 0; i < sizeof(forbidden) / sizeof(forbidden[0]); i++)
        if (calls(line, forbidden[i]))
            tree_complain(path, number, "library code calls %s()", forbidden[i]);
}

TEST(the_library_never_prints_exits_or_allocates_behind_our_back)
{
    CHECK(tree_lines("src", "c h", check_calls) > 10);
    TREE_DONE();
}

/* Built from pieces, so that this file does not contain them itself. */
static void check_paths(const char *path, int number, const char *line)
{
    static const char *const homes[] = {"/ho"
                                        "me/",
                                        "/ro"
                                        "ot/",
                                        "/wo"
                                        "rk/",
                                        "/Use"
                                        "rs/"};

    for (size_t i = 0; i < sizeof(homes) / sizeof(homes[0]); i++)
        if (strstr(line, homes[i]) != NULL)
            tree_complain(path, number, "names a place of one machine: %s", homes[i]);
}

TEST(no_file_names_a_place_of_one_machine)
{
    static const char *const text[] = {"src",   "include", "tools",  "tests",
                                       "cmake", "docs",    "models", "proto"};

    for (size_t i = 0; i < sizeof(text) / sizeof(text[0]); i++)
        tree_lines(text[i], "c h cmake txt md prototxt proto py sh def json supp",
                   check_paths);
    TREE_DONE();
}

/* A link into one machine is a path too; files of the repository need none. */
TEST(the_repository_holds_no_links)
{
    if (system("cd '" FIRE_SOURCE_DIR
               "' && git rev-parse -q --git-dir >/dev/null 2>&1"))
        test_skip("not a git checkout");
    CHECK(system("cd '" FIRE_SOURCE_DIR "' && ! git ls-files -s | grep '^120000'") ==
          0);
}

enum { LONG = 400, MOST_LINES = 450, COLUMNS = 88 };

static void check_lines(const char *path, int number, const char *line)
{
    (void)line;
    if (number == LONG + 1)
        fprintf(stderr, "    %s: longer than %d lines: time to split it\n", path, LONG);
    if (number == MOST_LINES + 1)
        tree_complain(path, number, "more than %d lines", MOST_LINES);
}

TEST(files_stay_short)
{
    static const char *const folders[] = {"src",   "include", "tools",  "tests",
                                          "cmake", "bench",   "report", "models"};

    for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
        tree_lines(folders[i], "c h cu cuh cc def cmake py js sh css html",
                   check_lines);
    TREE_DONE();
}

/* "name.c - what it is", the name left out where the folder says it ("firecaffe plan - ..."
 * of tools/cmd/plan.c, tests). */
static void check_head(const char *path, int number, const char *line)
{
    static bool says;

    if (number == 1) says = strncmp(line, "/* ", 3) == 0;
    if (number == 31 && !says)
        tree_complain(path, 1, "does not begin with a comment that says what it is");
}

TEST(files_of_more_than_30_lines_say_what_they_are)
{
    tree_lines("src", "c h cu cuh", check_head);
    tree_lines("include", "h", check_head);
    tree_lines("tools", "c h", check_head);
    tree_lines("tests", "c h", check_head);
    TREE_DONE();
}

static void check_columns(const char *path, int number, const char *line)
{
    size_t n = strcspn(line, "\n");

    if (n > COLUMNS + 12) /* what the formatter cannot break may stick out */
        tree_complain(path, number, "%zu columns", n);
}

TEST(lines_stay_narrow)
{
    tree_lines("src", "c h cu cuh", check_columns);
    tree_lines("include", "h", check_columns);
    tree_lines("tools", "c h", check_columns);
    tree_lines("tests", "c h", check_columns);
    TREE_DONE();
}

static void check_words(const char *path, int number, const char *line)
{
    if (strstr(line, "TO"
                     "DO") != NULL ||
        strstr(line, "FIX"
                     "ME") != NULL ||
        strstr(line, "X"
                     "XX") != NULL)
        tree_complain(path, number, "unfinished: %s", line);
}

TEST(nothing_is_left_unfinished)
{
    tree_lines("src", "c h cu cuh", check_words);
    tree_lines("include", "h", check_words);
    tree_lines("tools", "c h", check_words);
    TREE_DONE();
}
