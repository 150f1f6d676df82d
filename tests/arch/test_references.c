/* What comments and pages point to is in the repository. */
#include <ctype.h>
#include <strings.h>
#include "tree.h"

static bool in_path(char c)
{
    return isalnum((unsigned char)c) || strchr("_./-", c) != NULL;
}

/* "docs/guide/train.md." at the end of a sentence is docs/guide/train.md; a longer path or
 * an address that merely contains "docs/" is none of ours. */
static void check_pages(const char *path, int number, const char *line)
{
    char page[256];

    for (const char *at = line; (at = strstr(at, "docs/")) != NULL;) {
        const char *begin = at;
        size_t      n;

        while (*at != '\0' && in_path(*at))
            at++;
        n = (size_t)(at - begin);
        while (begin[n - 1] == '.')
            n--;
        if ((begin > line && in_path(begin[-1])) || *at == '*' || *at == '<') continue;
        snprintf(page, sizeof(page), "%.*s", (int)n, begin);
        if (!tree_exists(page)) tree_complain(path, number, "there is no %s", page);
    }
}

/* The number of a decision alone says nothing to who has no list of them. */
static void check_decisions(const char *path, int number, const char *line)
{
    static const char said[] = "design decision";

    for (const char *at = line; *at != '\0'; at++)
        if (strncasecmp(at, said, sizeof(said) - 1) == 0 &&
            strstr(line, "docs/design/") == NULL)
            tree_complain(path, number, "name the page below docs/design/ instead");
}

static void check_line(const char *path, int number, const char *line)
{
    if (strcmp(path, "tests/arch/test_references.c") == 0) return;
    check_pages(path, number, line);
    check_decisions(path, number, line);
}

TEST(comments_point_to_pages_that_exist)
{
    static const char *const folders[] = {"src",   "include", "tools",  "tests",
                                          "cmake", "bench",   "report", "models",
                                          "proto", "machines"};

    for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
        tree_lines(folders[i], "c h cu cuh cc def cmake py js sh css html proto txt",
                   check_line);
    TREE_DONE();
}
