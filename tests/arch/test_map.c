/* The rooms hold what docs/architecture.md says: it names every folder, the paths and
 * functions on it exist, and its walks are short. */
#include <ctype.h>
#include <stdlib.h>
#include "code.h"
#include "tree.h"

#define MAP "docs/architecture.md"

enum { MOST_FILES = 25, MOST_STEPS = 9, MAX_FOLDERS = 256 };

typedef struct folder {
    char path[160];
    int  files;
} folder_t;

static folder_t folders[MAX_FOLDERS];
static int      nfolder;
static char    *map;

static folder_t *folder_of(const char *path)
{
    size_t n = (size_t)(strrchr(path, '/') - path) + 1;

    for (int i = 0; i < nfolder; i++)
        if (strncmp(folders[i].path, path, n) == 0 && folders[i].path[n] == '\0')
            return &folders[i];
    CHECK(nfolder < MAX_FOLDERS);
    snprintf(folders[nfolder].path, sizeof(folders[0].path), "%.*s", (int)n, path);
    return &folders[nfolder++];
}

static void count_file(const char *path)
{
    folder_of(path)->files++;
}

static void read_rooms(void)
{
    map = tree_read(MAP);
    CHECK(tree_files("src", "", count_file) > 10);
    CHECK(tree_files("tools", "", count_file) > 10);
}

TEST(a_room_holds_at_most_25_files_unless_the_map_says_why)
{
    char excuse[256];

    read_rooms();
    for (int i = 0; i < nfolder; i++) {
        snprintf(excuse, sizeof(excuse), "`%s` holds more than %d files",
                 folders[i].path, MOST_FILES);
        if (folders[i].files > MOST_FILES && strstr(map, excuse) == NULL)
            tree_complain(folders[i].path, 0, "%d files, not at most %d",
                          folders[i].files, MOST_FILES);
    }
    TREE_DONE();
}

TEST(the_map_names_every_room)
{
    char quoted[256];

    read_rooms();
    for (int i = 0; i < nfolder; i++) {
        snprintf(quoted, sizeof(quoted), "`%s`", folders[i].path);
        if (strstr(map, quoted) == NULL)
            tree_complain(MAP, 0, "does not name %s", quoted);
    }
    TREE_DONE();
}

/* ---- what stands between backticks ---- */

/* Calls `each` with what is quoted in a line; a quotation does not break over lines. */
static void each_quoted(const char *line, int number,
                        void (*each)(const char *text, int number))
{
    char text[256];

    for (const char *at = strchr(line, '`'); at != NULL; at = strchr(at, '`')) {
        size_t n = strcspn(++at, "`");

        if (at[n] == '\0') return;
        snprintf(text, sizeof(text), "%.*s", (int)n, at);
        each(text, number);
        at += n + 1;
    }
}

static void check_path(const char *text, int number)
{
    if (strchr(text, '/') == NULL || strpbrk(text, " <>*$") != NULL) return;
    if (strncmp(text, "./", 2) != 0 && !tree_exists(text))
        tree_complain(MAP, number, "there is no %s", text);
}

static void check_paths(const char *path, int number, const char *line)
{
    (void)path;
    each_quoted(line, number, check_path);
}

TEST(every_path_on_the_map_exists)
{
    tree_file_lines(MAP, check_paths);
    TREE_DONE();
}

static const char *wanted;
static bool        is_defined;

static void look_for(const code_item_t *item)
{
    is_defined |= item->kind == CODE_FUNCTION && strcmp(item->name, wanted) == 0;
}

static void check_function(const char *text, int number)
{
    char   name[256];
    size_t n = strlen(text);

    if (n < 3 || strcmp(text + n - 2, "()") != 0) return;
    snprintf(name, sizeof(name), "%.*s", (int)n - 2, text);
    wanted     = name;
    is_defined = false;
    code_items("src", "c h cu", look_for);
    code_items("tools", "c h", look_for);
    if (!is_defined) tree_complain(MAP, number, "no source defines %s", text);
}

static void check_functions(const char *path, int number, const char *line)
{
    (void)path;
    each_quoted(line, number, check_function);
}

TEST(every_function_on_the_map_is_defined)
{
    tree_file_lines(MAP, check_functions);
    TREE_DONE();
}

/* ---- walks ---- */

/* "3. `src/net/run.c`: ..." in a section "## Walk: a training iteration" */
static bool in_walk;
static int  walks, step;
static char seen[MOST_STEPS + 1][128];

static void check_step(const char *text, int number)
{
    if (step > MOST_STEPS || seen[step][0] != '\0') return; /* not the first quoted */
    snprintf(seen[step], sizeof(seen[0]), "%s", text);
    if (!tree_exists(text)) tree_complain(MAP, number, "there is no %s", text);
    for (int i = 1; i < step; i++)
        if (strcmp(seen[i], text) == 0)
            tree_complain(MAP, number, "%s is step %d already", text, i);
}

static void check_walk(const char *path, int number, const char *line)
{
    if (strncmp(line, "## ", 3) == 0) {
        in_walk = strncmp(line, "## Walk: ", 9) == 0;
        walks += in_walk;
        step = 0;
        memset(seen, 0, sizeof(seen));
    }
    if (!in_walk || !isdigit((unsigned char)line[0])) return;
    if (atoi(line) != ++step) tree_complain(path, number, "this is step %d", step);
    if (step > MOST_STEPS)
        tree_complain(path, number, "a walk has at most %d files", MOST_STEPS);
    each_quoted(line, number, check_step);
    if (step <= MOST_STEPS && seen[step][0] == '\0')
        tree_complain(path, number, "step %d begins with no file", step);
}

TEST(each_walk_meets_at_most_9_files_and_none_twice)
{
    tree_file_lines(MAP, check_walk);
    CHECK(walks >= 4);
    TREE_DONE();
}
