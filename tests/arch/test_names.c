/* One name, one thing, and each name found by a search: what a debugger, nm or a log shows
 * stands at its definition as it is, not pasted together by a macro. */
#include <ctype.h>
#include <stdlib.h>
#include "code.h"
#include "tree.h"

typedef struct entry {
    code_kind_t kind;
    char        name[96], path[120];
    char       *text;
    int         line;
    bool        is_static;
} entry_t;

static entry_t *table;
static int      count, room;

static void add(const code_item_t *item, code_kind_t kind, const char *name)
{
    entry_t *e;

    if (count == room) {
        room  = room > 0 ? 2 * room : 4096;
        table = realloc(table, (size_t)room * sizeof(*table));
        CHECK(table != NULL);
    }
    e            = &table[count++];
    e->kind      = kind;
    e->line      = item->line;
    e->is_static = item->is_static;
    e->text      = strdup(item->text);
    CHECK(e->text != NULL);
    snprintf(e->name, sizeof(e->name), "%s", name);
    snprintf(e->path, sizeof(e->path), "%s", item->path);
}

static void add_item(const code_item_t *item)
{
    const char *at = item->text;
    char        name[96];

    if (item->kind == CODE_MACRO) {
        code_identifier(&at, name);
        while (code_identifier(&at, name))
            add(item, CODE_MACRO, name);
        return;
    }
    if (item->name[0] != '\0') add(item, item->kind, item->name);
    if (item->tag[0] != '\0' && strcmp(item->tag, item->name) != 0)
        add(item, CODE_TYPE, item->tag);
}

static int by_name(const void *a, const void *b)
{
    const entry_t *x = a, *y = b;
    int            c = strcmp(x->name, y->name);

    if (c == 0) c = (int)x->kind - (int)y->kind;
    if (c == 0) c = strcmp(x->path, y->path);
    return c != 0 ? c : x->line - y->line;
}

static void read_sources(void)
{
    CHECK(code_items("src", "c h cu", add_item) > 10);
    CHECK(code_items("include", "h", add_item) > 0);
    CHECK(code_items("tools", "c h", add_item) > 10);
    CHECK(count > 1000);
    qsort(table, (size_t)count, sizeof(*table), by_name);
}

/* The first entry of this name that is of one of the kinds, or NULL. */
static const entry_t *find(const char *name, unsigned kinds)
{
    int low = 0, high = count;

    while (low < high) {
        int middle = (low + high) / 2;

        if (strcmp(table[middle].name, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < count && strcmp(table[low].name, name) == 0; low++)
        if (kinds & 1u << table[low].kind) return &table[low];
    return NULL;
}

enum {
    DEFINES = 1u << CODE_FUNCTION | 1u << CODE_MACRO,
    RECORDS = 1u << CODE_VARIABLE,
};

/* ---- found by a search ---- */

/* Files that are made by the build, by the name of their object. */
static bool is_generated(const char *object)
{
    return strstr(object, ".pb-c.c") != NULL ||
           strstr(object, "python_host.c") != NULL ||
           strstr(object, "report_page.c") != NULL;
}

/* Compilers add ".constprop.0", ".part.1", "._omp_fn.2", ".avx512f.3" and the like; names
 * that begin with "_" are theirs too, and those of C++. */
static void check_symbol(const char *object, char *symbol, unsigned kinds)
{
    symbol[strcspn(symbol, ".")] = '\0';
    if (symbol[0] == '_' || symbol[0] == '\0') return;
    if (find(symbol, kinds) == NULL)
        tree_complain(object, 0, "no source defines %s by its whole name", symbol);
}

/* Calls check_symbol() for symbols of these kinds (nm's letters) that begin so. */
static int check_library(const char *letters, const char *prefix, unsigned kinds)
{
    FILE  *f    = popen("nm '" FIRE_BUILD_DIR "/libfire.a' 2>/dev/null", "r");
    char  *line = NULL, object[256] = "", symbol[256], letter;
    size_t cap     = 0;
    int    symbols = 0;

    CHECK(f != NULL);
    while (getline(&line, &cap, f) >= 0) {
        size_t n = strcspn(line, "\n");

        if (n > 0 && line[n - 1] == ':') {
            snprintf(object, sizeof(object), "%.*s", (int)n - 1, line);
            continue;
        }
        if (sscanf(line, "%*x %c %255s", &letter, symbol) != 2) continue;
        if (strchr(letters, letter) == NULL || is_generated(object) ||
            strncmp(symbol, prefix, strlen(prefix)) != 0)
            continue;
        check_symbol(object, symbol, kinds);
        symbols++;
    }
    free(line);
    CHECK(pclose(f) == 0);
    return symbols;
}

TEST(every_function_of_the_library_is_found_by_its_name)
{
    read_sources();
    CHECK(check_library("tTwWi", "", DEFINES) > 1000);
    TREE_DONE();
}

TEST(every_record_of_the_library_is_found_by_its_name)
{
    read_sources();
    CHECK(check_library("dDrR", "fire_", RECORDS) > 100);
    TREE_DONE();
}

/* Also what this build leaves out: CUDA, cuDNN, libraries that are not there. */
TEST(every_declared_function_is_defined_by_its_name)
{
    read_sources();
    for (int i = 0; i < count; i++)
        if (table[i].kind == CODE_PROTOTYPE &&
            strncmp(table[i].name, "fire_", 5) == 0 &&
            find(table[i].name, DEFINES) == NULL)
            tree_complain(table[i].path, table[i].line, "no source defines %s",
                          table[i].name);
    TREE_DONE();
}

/* ---- one name, one thing ---- */

static bool in_header(const entry_t *e)
{
    return strcmp(strrchr(e->path, '.'), ".h") == 0;
}

static bool is_ours(const entry_t *e)
{
    return strncmp(e->name, "fire_", 5) == 0 || in_header(e);
}

static bool is_same_name(int i)
{
    return i > 0 && strcmp(table[i - 1].name, table[i].name) == 0 &&
           table[i - 1].kind == table[i].kind;
}

/* "typedef struct fire_net fire_net_t;" may stand in more than one header, and one header
 * may choose between two by #if. */
TEST(a_type_name_means_one_type)
{
    read_sources();
    for (int i = 1; i < count; i++)
        if (table[i].kind == CODE_TYPE && is_same_name(i) && is_ours(&table[i]) &&
            is_ours(&table[i - 1]) && strcmp(table[i - 1].text, table[i].text) != 0 &&
            strcmp(table[i - 1].path, table[i].path) != 0)
            tree_complain(table[i].path, table[i].line, "%s is also a type of %s:%d",
                          table[i].name, table[i - 1].path, table[i - 1].line);
    TREE_DONE();
}

static int headers_declaring(const char *name)
{
    int n = 0;

    for (int i = 0; i < count; i++)
        n += table[i].kind == CODE_PROTOTYPE && strcmp(table[i].name, name) == 0 &&
             in_header(&table[i]);
    return n;
}

/* "int f(const char *a, int b)" as "int f(const char*,int": names of parameters may differ,
 * so the last word of each is dropped, and spaces. */
static const char *signature(const char *text)
{
    static char out[2][1024];
    static int  turn;
    char       *to = out[turn++ % 2];
    size_t      n  = 0;

    for (; *text != '\0' && n + 1 < sizeof(out[0]); text++) {
        if (*text == ',' || *text == ')')
            while (n > 0 && (isalnum((unsigned char)to[n - 1]) || to[n - 1] == '_'))
                n--;
        if (*text != ' ' || (n > 0 && isalnum((unsigned char)to[n - 1])))
            to[n++] = *text;
        if (*text == '*' && n > 1 && to[n - 2] == ' ') to[--n - 1] = '*';
    }
    to[n] = '\0';
    return to;
}

/* A build may choose among definitions in several files (with a library and without it):
 * then they have the same signature, which one header declares. */
static void check_twice(const entry_t *a, const entry_t *b)
{
    if (strcmp(signature(a->text), signature(b->text)) != 0)
        tree_complain(b->path, b->line, "%s is another function in %s:%d", b->name,
                      a->path, a->line);
    else if (headers_declaring(b->name) != 1)
        tree_complain(b->path, b->line,
                      "%s, also defined in %s:%d, is declared in %d headers", b->name,
                      a->path, a->line, headers_declaring(b->name));
}

/* Of the functions that other files may call, and of all that are named as if so. */
static bool is_exported(const entry_t *e)
{
    return e->kind == CODE_FUNCTION &&
           (!e->is_static || strncmp(e->name, "fire_", 5) == 0 || in_header(e));
}

TEST(a_function_name_means_one_function)
{
    const entry_t *last = NULL;

    read_sources();
    for (int i = 0; i < count; i++) {
        if (!is_exported(&table[i])) continue;
        if (last != NULL && strcmp(last->name, table[i].name) == 0)
            check_twice(last, &table[i]);
        last = &table[i];
    }
    TREE_DONE();
}
