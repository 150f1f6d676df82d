/* options.c - parses flags (options.h): a flag is looked up in the tables, its text is
 * converted to the type of its row and stored. Flag files and environment variables are
 * parsed by the same functions. */
#include "base/text/options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "base/file.h"

typedef struct parser {
    const fire_option_group_t *groups;
    fire_options_t            *out;
    int                        depth; /* of flag files */
} parser_t;

enum { MAX_FLAG_FILES = 8, HELP_COLUMN = 26, HELP_WIDTH = 80 };

/* ---- looking up ---- */

/* - and _ are the same, as in gflags. */
static bool same_name(const char *known, const char *name, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (known[i] != (name[i] == '-' ? '_' : name[i])) return false;
    return known[n] == '\0';
}

static const fire_option_t *find(const parser_t *p, const char *name, size_t n,
                                 char **values_p)
{
    for (const fire_option_group_t *g = p->groups; g->options != NULL; g++)
        for (const fire_option_t *o = g->options; o->name != NULL; o++)
            if (same_name(o->name, name, n)) {
                *values_p = g->values;
                return o;
            }
    return NULL;
}

static const char *name_at(const void *list, int i)
{
    for (const fire_option_group_t *g = list; g->options != NULL; g++)
        for (const fire_option_t *o = g->options; g->title != NULL && o->name != NULL;
             o++)
            if (i-- == 0) return o->name;
    return NULL;
}

static fire_status_t unknown(const parser_t *p, const char *name, size_t n)
{
    char        word[64];
    const char *near;

    snprintf(word, sizeof(word), "%.*s", (int)n, name);
    near = fire_name_nearest(word, name_at, p->groups);
    if (near == NULL) return FIRE_FAIL(FIRE_ERR_INVALID, "unknown flag --%s", word);
    return FIRE_FAIL(FIRE_ERR_INVALID, "unknown flag --%s; did you mean --%s?", word,
                     near);
}

/* ---- storing ---- */

static fire_status_t keep(parser_t *p, char *text)
{
    fire_options_t *o = p->out;

    FIRE_TRY(fire_grow(&o->kept, &o->kept_cap, o->nkept + 1, sizeof(*o->kept)));
    o->kept[o->nkept++] = text;
    return FIRE_OK;
}

static bool parse_bool(const char *text, bool *value_p)
{
    static const char *const words[] = {"1", "0", "true", "false", "t",
                                        "f", "y", "n",    "yes",   "no"};

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (strcmp(text, words[i]) == 0) {
            *value_p = words[i][0] == '1' || words[i][0] == 't' || words[i][0] == 'y';
            return true;
        }
    return false;
}

static bool parse_int(const char *text, int64_t *value_p)
{
    char     *end;
    long long value;

    errno = 0;
    value = strtoll(text, &end, 10);
    if (end == text || *end != '\0' || errno != 0) return false;
    *value_p = value;
    return true;
}

static fire_status_t append(fire_option_list_t *list, const char *text)
{
    FIRE_TRY(fire_grow(&list->text, &list->cap, list->n + 1, sizeof(*list->text)));
    list->text[list->n++] = text;
    return FIRE_OK;
}

/* Strings are not copied: text must stay valid as long as the options. */
static fire_status_t store(const fire_option_t *o, char *values, const char *text)
{
    void *to = values + o->offset;

    switch (o->type) {
    case FIRE_OPTION_BOOL:
        if (parse_bool(text, to)) return FIRE_OK;
        return FIRE_FAIL(FIRE_ERR_INVALID, "--%s takes true or false, not \"%s\"",
                         o->name, text);
    case FIRE_OPTION_INT:
        if (parse_int(text, to)) return FIRE_OK;
        return FIRE_FAIL(FIRE_ERR_INVALID, "--%s takes a whole number, not \"%s\"",
                         o->name, text);
    case FIRE_OPTION_DOUBLE:
        if (fire_number_parse(text, strlen(text), to)) return FIRE_OK;
        return FIRE_FAIL(FIRE_ERR_INVALID, "--%s takes a number, not \"%s\"", o->name,
                         text);
    case FIRE_OPTION_STRING:
        *(const char **)to = text;
        return FIRE_OK;
    case FIRE_OPTION_PATH: /* "" is most likely an unset variable of the shell */
        if (text[0] == '\0')
            return FIRE_FAIL(FIRE_ERR_INVALID,
                             "--%s takes %s, not \"\"; leave it out for none", o->name,
                             o->arg);
        *(const char **)to = text;
        return FIRE_OK;
    case FIRE_OPTION_LIST:
        return append(to, text);
    }
    return FIRE_OK;
}

static fire_status_t set_default(const fire_option_t *o, char *values)
{
    void *to = values + o->offset;

    if (o->type == FIRE_OPTION_LIST)
        *(fire_option_list_t *)to = (fire_option_list_t){0};
    else if (o->type == FIRE_OPTION_STRING || o->type == FIRE_OPTION_PATH)
        *(const char **)to = o->preset;
    else if (o->preset != NULL)
        return store(o, values, o->preset);
    return FIRE_OK;
}

static fire_status_t set_defaults(const parser_t *p)
{
    for (const fire_option_group_t *g = p->groups; g->options != NULL; g++)
        for (const fire_option_t *o = g->options; o->name != NULL; o++)
            FIRE_TRY(set_default(o, g->values));
    return FIRE_OK;
}

/* ---- flags ---- */

static fire_status_t flag(parser_t *p, const char *text, const char *next, bool *used);

static bool is_flag(const char *text)
{
    return text[0] == '-' && text[1] != '\0';
}

static fire_status_t flag_file_line(parser_t *p, const char *path, char *line)
{
    bool   used;
    size_t n;

    line += strspn(line, " \t");
    n = strlen(line);
    while (n > 0 && strchr(" \t\r", line[n - 1]) != NULL)
        line[--n] = '\0';
    if (n == 0 || line[0] == '#') return FIRE_OK;
    if (!is_flag(line))
        return FIRE_FAIL(FIRE_ERR_INVALID, "%s: \"%s\" is no flag: write --flag=value",
                         path, line);
    return flag(p, line, NULL, &used);
}

static fire_status_t flag_file(parser_t *p, const char *path)
{
    char *text, *line, *rest;

    if (++p->depth > MAX_FLAG_FILES)
        return FIRE_FAIL(FIRE_ERR_INVALID, "%s: flag files include each other", path);
    FIRE_TRY(fire_file_read_text(path, &text));
    FIRE_TRY(keep(p, text));
    for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
        FIRE_TRY(flag_file_line(p, path, line));
    p->depth--;
    return FIRE_OK;
}

static fire_status_t from_env(parser_t *p, const char *name, bool must)
{
    char                 variable[80];
    char                *values;
    const char          *text;
    const fire_option_t *o = find(p, name, strlen(name), &values);

    if (o == NULL) return unknown(p, name, strlen(name));
    snprintf(variable, sizeof(variable), "FLAGS_%s", o->name);
    text = getenv(variable);
    if (text != NULL) return store(o, values, text);
    if (!must) return FIRE_OK;
    return FIRE_FAIL(FIRE_ERR_INVALID, "--fromenv=%s: %s is not set", name, variable);
}

/* --flagfile, --fromenv and --tryfromenv: comma-separated lists. */
static fire_status_t special(parser_t *p, char kind, const char *value)
{
    char *list, *item, *rest;

    FIRE_TRY(fire_strdup(value, &list));
    FIRE_TRY(keep(p, list));
    for (item = strtok_r(list, ",", &rest); item; item = strtok_r(NULL, ",", &rest))
        FIRE_TRY(kind == 'f' ? flag_file(p, item) : from_env(p, item, kind == 'e'));
    return FIRE_OK;
}

static char special_kind(const char *name, size_t n)
{
    if (same_name("flagfile", name, n)) return 'f';
    if (same_name("fromenv", name, n)) return 'e';
    return same_name("tryfromenv", name, n) ? 't' : '\0';
}

/* --noflag of a bool or a path. */
static const fire_option_t *find_negated(const parser_t *p, const char *name, size_t n,
                                         char **values_p)
{
    const fire_option_t *o = NULL;

    if (n > 2 && strncmp(name, "no", 2) == 0) o = find(p, name + 2, n - 2, values_p);
    if (o == NULL) return NULL;
    return o->type == FIRE_OPTION_BOOL || o->type == FIRE_OPTION_PATH ? o : NULL;
}

/* One flag. Its value follows "=" or is the next word; *used tells which. */
static fire_status_t flag(parser_t *p, const char *text, const char *next, bool *used)
{
    const char          *name   = text + (text[1] == '-' ? 2 : 1);
    size_t               n      = strcspn(name, "=");
    const char          *value  = name[n] == '=' ? name + n + 1 : NULL;
    char                *values = NULL;
    char                 kind   = special_kind(name, n);
    const fire_option_t *o      = find(p, name, n, &values);

    *used = false;
    if (o == NULL && kind == '\0') {
        o = find_negated(p, name, n, &values);
        if (o == NULL || value != NULL) return unknown(p, name, n);
        return o->type == FIRE_OPTION_BOOL ? store(o, values, "false")
                                           : set_default(o, values);
    }
    if (o != NULL && o->type == FIRE_OPTION_BOOL)
        return store(o, values, value != NULL ? value : "true");
    if (value == NULL) {
        if (next == NULL)
            return FIRE_FAIL(FIRE_ERR_INVALID, "--%.*s needs a value", (int)n, name);
        value = next;
        *used = true;
    }
    return o != NULL ? store(o, values, value) : special(p, kind, value);
}

fire_status_t fire_options_parse(const fire_option_group_t *groups, int argc,
                                 const char *const *argv, fire_options_t *out)
{
    parser_t p    = {groups, out, 0};
    bool     only = false; /* arguments, after "--" */

    FIRE_TRY(fire_grow(&out->arg, &out->arg_cap, argc, sizeof(*out->arg)));
    FIRE_TRY(set_defaults(&p));
    for (int i = 1; i < argc; i++) {
        bool used = false;

        if (only || !is_flag(argv[i]))
            out->arg[out->narg++] = argv[i];
        else if (strcmp(argv[i], "--") == 0)
            only = true;
        else
            FIRE_TRY(flag(&p, argv[i], i + 1 < argc ? argv[i + 1] : NULL, &used));
        i += used;
    }
    return FIRE_OK;
}

void fire_options_fini(const fire_option_group_t *groups, fire_options_t *options)
{
    for (const fire_option_group_t *g = groups; g->options != NULL; g++)
        for (const fire_option_t *o = g->options; o->name != NULL; o++)
            if (o->type == FIRE_OPTION_LIST) {
                fire_option_list_t *list = (void *)((char *)g->values + o->offset);

                fire_free(list->text);
                *list = (fire_option_list_t){0};
            }
    for (int64_t i = 0; i < options->nkept; i++)
        fire_free(options->kept[i]);
    fire_free(options->kept);
    fire_free(options->arg);
    *options = (fire_options_t){0};
}

/* ---- help ---- */

/* Append words from column HELP_COLUMN on, wrapped. */
static fire_status_t wrap(fire_str_t *out, const char *text)
{
    int column = HELP_COLUMN;

    while (*text != '\0') {
        int n = (int)strcspn(text, " ");

        if (column > HELP_COLUMN && column + 1 + n > HELP_WIDTH) {
            FIRE_TRY(fire_str_printf(out, "\n%*s", HELP_COLUMN, ""));
            column = HELP_COLUMN;
        }
        FIRE_TRY(
            fire_str_printf(out, "%s%.*s", column > HELP_COLUMN ? " " : "", n, text));
        column += n + 1;
        text += n + (text[n] == ' ');
    }
    return fire_str_add(out, "\n", 1);
}

static bool shows_default(const fire_option_t *o)
{
    return o->preset != NULL && o->preset[0] != '\0' &&
           (o->type != FIRE_OPTION_BOOL || strcmp(o->preset, "true") == 0);
}

fire_status_t fire_options_help(const fire_option_group_t *groups, fire_str_t *out)
{
    for (const fire_option_group_t *g = groups; g->options != NULL; g++) {
        if (g->title == NULL) continue;
        FIRE_TRY(fire_str_printf(out, "%s%s:\n", g == groups ? "" : "\n", g->title));
        for (const fire_option_t *o = g->options; o->name != NULL; o++) {
            char left[80], text[512];
            bool fits;

            snprintf(left, sizeof(left), "  --%s%s%s", o->name, o->arg ? " " : "",
                     o->arg ? o->arg : "");
            snprintf(text, sizeof(text), shows_default(o) ? "%s (default: %s)" : "%s",
                     o->help, o->preset);
            fits = strlen(left) < HELP_COLUMN;
            FIRE_TRY(fire_str_printf(out, "%-*s%s", HELP_COLUMN, left,
                                     fits ? "" : "\n                          "));
            FIRE_TRY(wrap(out, text));
        }
    }
    return FIRE_OK;
}
