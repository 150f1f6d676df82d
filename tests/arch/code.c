/* code.c - blanks what is not code, then cuts the rest into items at the first column. */
#include "code.h"

#include <ctype.h>
#include <stdlib.h>
#include "tree.h"

static code_fn_t item_fn;

static bool is_name(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

bool code_identifier(const char **at_p, char name[96])
{
    const char *at = *at_p;
    size_t      n  = 0;

    while (*at != '\0' && !is_name(*at))
        at++;
    while (is_name(at[n]))
        n++;
    snprintf(name, 96, "%.*s", (int)n, at);
    *at_p = at + n;
    return n > 0;
}

/* ---- blanking what is not code ---- */

static char *blank_to(char *at, const char *end)
{
    for (; at < end && *at != '\0'; at++)
        if (*at != '\n') *at = ' ';
    return at;
}

static char *blank_comment(char *at)
{
    char *end = at[1] == '*' ? strstr(at + 2, "*/") : strchr(at, '\n');

    CHECK(end != NULL);
    return blank_to(at, at[1] == '*' ? end + 2 : end);
}

static char *blank_literal(char *at)
{
    char quote = *at;

    for (at++; *at != quote && *at != '\0' && *at != '\n'; at++) {
        if (*at == '\\' && at[1] != '\0') *at++ = ' ';
        *at = ' ';
    }
    return at + (*at == quote);
}

static char *blank_directive(char *at)
{
    char *end = at;

    do
        end += strcspn(end, "\n") + 1;
    while (end[-1] == '\n' && end[-2] == '\\');
    return blank_to(at, end);
}

static void blank(char *text)
{
    for (char *at = text; *at != '\0';) {
        if (at[0] == '/' && (at[1] == '*' || at[1] == '/'))
            at = blank_comment(at);
        else if (*at == '"' || (*at == '\'' && (at == text || !is_name(at[-1]))))
            at = blank_literal(at);
        else
            at++;
    }
    for (char *at = text; *at != '\0'; at += strcspn(at, "\n"), at += *at == '\n')
        if (at[strspn(at, " \t")] == '#') at = blank_directive(at) - 1;
}

/* ---- items ---- */

/* Behind the bracket that closes the one at `at`. */
static const char *skip_brackets(const char *at, char open, char close)
{
    int depth = 0;

    for (; *at != '\0'; at++) {
        depth += (*at == open) - (*at == close);
        if (depth == 0) return at + 1;
    }
    return at;
}

static bool has_word(const char *text, const char *word)
{
    char name[96];

    for (const char *at = text; code_identifier(&at, name);)
        if (strcmp(name, word) == 0) return true;
    return false;
}

/* The name before the first "(" that is not an attribute's. */
static void find_function(code_item_t *item)
{
    const char *at = item->text;
    char        name[96];

    if (strncmp(at, "template", 8) == 0)
        at = skip_brackets(at + strcspn(at, "<"), '<', '>');
    while (code_identifier(&at, name)) {
        at += strspn(at, " ");
        if (*at != '(') continue;
        if (strncmp(name, "__", 2) != 0) {
            snprintf(item->name, sizeof(item->name), "%s", name);
            return;
        }
        at = skip_brackets(at, '(', ')');
    }
}

/* "struct fire_blob", or a typedef of what stands in `text`, or of a body and the words
 * behind it. */
static void find_type(code_item_t *item, const char *behind_body)
{
    const char *at = item->text, *mark;
    char        name[96];

    while (behind_body != NULL && code_identifier(&at, name))
        if (strcmp(name, "struct") == 0 || strcmp(name, "union") == 0 ||
            strcmp(name, "enum") == 0)
            code_identifier(&at, item->tag);
    if (!has_word(item->text, "typedef")) return;
    at   = behind_body != NULL ? behind_body : item->text;
    mark = behind_body == NULL ? strstr(at, "(*") : NULL; /* a pointer to a function */
    if (mark != NULL) {
        code_identifier(&mark, item->name);
        return;
    }
    while (*at != ';' && code_identifier(&at, name)) {
        if (strncmp(name, "__", 2) == 0) break; /* attributes follow */
        snprintf(item->name, sizeof(item->name), "%s", name);
        if (at[strspn(at, " ")] == '(') break; /* the type of a function */
    }
}

/* The last name, before its dimensions. */
static void find_variable(code_item_t *item)
{
    const char *at = item->text, *end = at + strcspn(at, "[");
    char        name[96];

    while (at < end && code_identifier(&at, name))
        if (at <= end) snprintf(item->name, sizeof(item->name), "%s", name);
}

static const char *squeeze(const char *from, const char *to)
{
    static char text[4096];
    size_t      n = 0;

    for (; from < to && n + 1 < sizeof(text); from++)
        if (!isspace((unsigned char)*from))
            text[n++] = *from;
        else if (n > 0 && text[n - 1] != ' ')
            text[n++] = ' ';
    while (n > 0 && text[n - 1] == ' ')
        n--;
    text[n] = '\0';
    return text;
}

/* A macro called on lines of its own: behind its ")" the next line begins anew. */
static bool ends_macro(const char *at)
{
    const char *next = at + strspn(at, " \t\n");

    return memchr(at, '\n', (size_t)(next - at)) != NULL && next[-1] == '\n' &&
           *next != '{';
}

/* Where the head of the item ends: at its body, its ";" or its value, or behind the ")" of
 * a macro. */
static const char *find_end(const char *at)
{
    while (*at != '\0' && *at != ';' && *at != '{' && *at != '=') {
        if (*at == '(') {
            at = skip_brackets(at, '(', ')');
            if (ends_macro(at)) return at;
        } else {
            at++;
        }
    }
    return at;
}

static bool is_type(const char *text)
{
    static const char *const first[] = {"typedef ", "struct ", "union ", "enum "};

    for (size_t i = 0; i < sizeof(first) / sizeof(first[0]); i++)
        if (strncmp(text, first[i], strlen(first[i])) == 0) return true;
    return strcmp(text, "enum") == 0;
}

/* Either by itself, or by a macro that says so and "inline" too. */
static bool is_static(const char *text)
{
    return has_word(text, "static") || has_word(text, "FIRE_EVERYWHERE") ||
           has_word(text, "FIRE_SIMD");
}

/* Fills the item whose head is [begin, end); returns where the next one may begin. */
static const char *read_item(const char *begin, const char *end, code_item_t *item)
{
    const char *behind = *end == '{' ? skip_brackets(end, '{', '}') : NULL;

    item->text      = squeeze(begin, end);
    item->is_static = is_static(item->text);
    item->kind      = CODE_OTHER;
    if (is_type(item->text) && (behind == NULL || strchr(item->text, '(') == NULL)) {
        item->kind = CODE_TYPE;
        find_type(item, behind);
        return behind != NULL ? behind + strcspn(behind, ";") + 1 : end + 1;
    }
    if (*end == '=') {
        item->kind = CODE_VARIABLE;
        find_variable(item);
        return end + strcspn(end, ";") + 1;
    }
    if (strchr(item->text, '(') != NULL) find_function(item);
    if (item->name[0] != '\0')
        item->kind = *end == '{'   ? CODE_FUNCTION
                     : *end == ';' ? CODE_PROTOTYPE
                                   : CODE_MACRO;
    return behind != NULL ? behind : end + (*end == ';');
}

static int lines_between(const char *from, const char *to)
{
    int n = 0;

    for (; from < to; from++)
        n += *from == '\n';
    return n;
}

/* A word that has its line for itself, such as FIRE_BEGIN_C. */
static bool is_mark(const char *at)
{
    while (isupper((unsigned char)*at) || *at == '_')
        at++;
    return *at == '\n';
}

static void read_text(const char *path, const char *text)
{
    const char *at = text;

    while (*at != '\0') {
        code_item_t item = {.path = path};
        const char *end;

        if (!is_name(*at)) {
            at++;
            continue;
        }
        if (is_mark(at)) {
            at += strcspn(at, "\n");
            continue;
        }
        end       = find_end(at);
        item.line = 1 + lines_between(text, at);
        at        = read_item(at, end, &item);
        if (item.kind != CODE_OTHER) item_fn(&item);
    }
}

static void read_file(const char *path)
{
    char *text = tree_read(path);

    blank(text);
    read_text(path, text);
    free(text);
}

int code_items(const char *folder, const char *exts, code_fn_t each)
{
    item_fn = each;
    return tree_files(folder, exts, read_file);
}
