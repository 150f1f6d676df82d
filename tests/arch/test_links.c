/* test_links.c - links between pages: a link in a .md file leads to a file of the
 * repository, and its #anchor to a heading of that page. Links to the web are not
 * followed; text between ``` lines is not looked at. */
#include <ctype.h>
#include <unistd.h>
#include "tree.h"

enum { MAX_PATH = 512 };

static bool in_code, found;
static char wanted[MAX_PATH]; /* the anchor that the page must have */

/* Call once per line of a page, from its first: is this line part of an example? */
static bool is_code(int number, const char *line)
{
    if (number == 1) in_code = false;
    if (strncmp(line, "```", 3) != 0) return in_code;
    in_code = !in_code;
    return true;
}

/* The anchor that GitHub gives a heading: "Who's who?" has "whos-who". */
static void anchor_of(const char *heading, char anchor[MAX_PATH])
{
    size_t n = 0;

    heading += strspn(heading, "# ");
    for (; *heading != '\0' && *heading != '\n' && n + 1 < MAX_PATH; heading++) {
        unsigned char c = (unsigned char)*heading;

        if (c == ' ')
            anchor[n++] = '-';
        else if (isalnum(c) || c == '-' || c == '_' || c >= 0x80)
            anchor[n++] = (char)tolower(c);
    }
    anchor[n] = '\0';
}

static void check_heading(int number, const char *line)
{
    char anchor[MAX_PATH];

    if (is_code(number, line) || line[0] != '#') return;
    anchor_of(line, anchor);
    found |= strcmp(anchor, wanted) == 0;
}

/* Has this page a heading with this anchor? */
static bool has_anchor(const char *page, const char *anchor)
{
    bool  outer = in_code;
    FILE *f     = fopen(test_source(page), "r");
    char  line[4096];

    if (f == NULL) return false;
    snprintf(wanted, sizeof(wanted), "%s", anchor);
    found = false;
    for (int number = 1; fgets(line, sizeof(line), f) != NULL; number++)
        check_heading(number, line);
    fclose(f);
    in_code = outer;
    return found;
}

static void check_target(const char *page, int number, const char *target)
{
    char        path[2 * MAX_PATH];
    const char *slash = strrchr(page, '/'), *anchor = strchr(target, '#');
    int         folder = slash != NULL ? (int)(slash - page) + 1 : 0;
    int         file   = (int)strcspn(target, "#");

    if (strchr(target, ':') != NULL) return; /* https://... */
    if (file == 0)
        snprintf(path, sizeof(path), "%s", page);
    else
        snprintf(path, sizeof(path), "%.*s%.*s", folder, page, file, target);
    if (access(test_source(path), F_OK) != 0)
        tree_complain(page, number, "leads nowhere: %s", target);
    else if (anchor != NULL && !has_anchor(path, anchor + 1))
        tree_complain(page, number, "no such heading: %s", target);
}

/* Every [text](target) of a line. */
static void check_links(const char *page, int number, const char *line)
{
    if (is_code(number, line)) return;
    for (const char *at = line; (at = strstr(at, "](")) != NULL;) {
        char   target[MAX_PATH];
        size_t n = strcspn(at += 2, ")\n");

        if (at[n] != ')' || n >= sizeof(target)) continue;
        snprintf(target, sizeof(target), "%.*s", (int)n, at);
        check_target(page, number, target);
    }
}

TEST(links_between_pages_lead_to_files_and_headings)
{
    CHECK(tree_lines(".", "md", check_links) > 20);
    TREE_DONE();
}

TEST(an_anchor_is_made_as_a_web_page_makes_it)
{
    char anchor[MAX_PATH];

    anchor_of("## Who may include whom\n", anchor);
    CHECK_STR(anchor, "who-may-include-whom");
    anchor_of("### ResNet-50 on 256 P100\n", anchor);
    CHECK_STR(anchor, "resnet-50-on-256-p100");
    anchor_of("# Caffe's own numbers, and `ref`\n", anchor);
    CHECK_STR(anchor, "caffes-own-numbers-and-ref");
}
