/* values_text.c - reads trees of keys and values from text format, and prints them. */
#include <string.h>
#include "base/alloc.h"
#include "model/text.h"
#include "model/values/values.h"

enum { DEPTH_MAX = 32 }; /* groups inside one another */

static fire_status_t read_items(fire_values_t *v, fire_lexer_t *lx, char closing,
                                int depth);

/* ---- reading ---- */

static fire_status_t fail_value(const fire_lexer_t *lx, const char *key)
{
    if (lx->token.kind == FIRE_TOKEN_END)
        return FIRE_FAIL_AT(lx, "\"%s\" needs a value, but the text ends here", key);
    return FIRE_FAIL_AT(lx, "\"%s\" needs a value, not \"%.*s\"", key,
                        FIRE_TOKEN_TEXT(lx));
}

/* An item with this key at the end of the tree. */
static fire_status_t append(fire_values_t *v, const char *key, fire_value_t **item_p)
{
    fire_value_t *item;

    FIRE_TRY(fire_grow(&v->item, &v->cap, v->n + 1, sizeof(*v->item)));
    item = &v->item[v->n];
    FIRE_TRY(fire_strdup(key, &item->key));
    v->n++; /* from now on the tree frees it */
    *item_p = item;
    return FIRE_OK;
}

/* { ... } or < ... >; its opening bracket was read. */
static fire_status_t read_group(fire_values_t *v, fire_lexer_t *lx, const char *key,
                                char closing, int depth)
{
    fire_value_t  *item = NULL;
    fire_values_t *group;
    char          *name;
    fire_status_t  st;

    if (depth == DEPTH_MAX)
        return FIRE_FAIL_AT(lx, "more than %d groups inside one another", DEPTH_MAX);
    FIRE_TRY(append(v, key, &item));
    item->kind = FIRE_VALUE_GROUP;
    FIRE_TRY(fire_asprintf(&name, "%s.%s", v->name, key));
    st = fire_values_create(name, &item->group);
    fire_free(name);
    FIRE_TRY(st);
    group = item->group;
    FIRE_TRY(read_items(group, lx, closing, depth + 1));
    return fire_lexer_next(lx);
}

/* A number, with its minus, or a word; both as they are written. */
static fire_status_t read_word(fire_values_t *v, fire_lexer_t *lx, const char *key)
{
    fire_value_t *item = NULL;
    bool          minus;

    FIRE_TRY(fire_lexer_accept(lx, '-', &minus));
    if (lx->token.kind != FIRE_TOKEN_INTEGER && lx->token.kind != FIRE_TOKEN_FLOAT &&
        lx->token.kind != FIRE_TOKEN_NAME)
        return fail_value(lx, key);
    FIRE_TRY(append(v, key, &item));
    item->kind =
        lx->token.kind == FIRE_TOKEN_NAME ? FIRE_VALUE_WORD : FIRE_VALUE_NUMBER;
    FIRE_TRY(fire_asprintf(&item->text, "%s%.*s", minus ? "-" : "", (int)lx->token.n,
                           lx->token.at));
    return fire_lexer_next(lx);
}

/* Texts in a row are one, as in C. */
static fire_status_t read_text(fire_values_t *v, fire_lexer_t *lx, const char *key)
{
    fire_str_t    s    = {0};
    fire_lexer_t  at   = *lx;
    fire_value_t *item = NULL;
    fire_status_t st   = append(v, key, &item);

    if (st >= 0) item->kind = FIRE_VALUE_TEXT;
    while (st >= 0 && lx->token.kind == FIRE_TOKEN_STRING) {
        st = fire_lexer_unescape(lx, &s);
        if (st >= 0) st = fire_lexer_next(lx);
    }
    if (st >= 0 && s.n > 0 && memchr(s.text, '\0', (size_t)s.n) != NULL)
        st = FIRE_FAIL_AT(&at, "the text of \"%s\" holds a zero byte", key);
    if (st >= 0) st = fire_str_take(&s, &item->text);
    fire_str_fini(&s);
    return st;
}

static fire_status_t read_value(fire_values_t *v, fire_lexer_t *lx, const char *key,
                                int depth)
{
    bool open, angle = false;

    if (lx->token.kind == FIRE_TOKEN_STRING) return read_text(v, lx, key);
    FIRE_TRY(fire_lexer_accept(lx, '{', &open));
    if (!open) FIRE_TRY(fire_lexer_accept(lx, '<', &angle));
    if (open || angle) return read_group(v, lx, key, angle ? '>' : '}', depth);
    return read_word(v, lx, key);
}

/* One value, or several in brackets. */
static fire_status_t read_values(fire_values_t *v, fire_lexer_t *lx, const char *key,
                                 int depth)
{
    bool more;

    FIRE_TRY(fire_lexer_accept(lx, '[', &more));
    if (!more) return read_value(v, lx, key, depth);
    FIRE_TRY(fire_lexer_accept(lx, ']', &more)); /* [] is an empty list */
    if (more) return FIRE_OK;
    do {
        FIRE_TRY(read_value(v, lx, key, depth));
        FIRE_TRY(fire_lexer_accept(lx, ',', &more));
    } while (more);
    if (!fire_lexer_is(lx, ']'))
        return FIRE_FAIL_AT(lx, "\"%s\" needs \",\" or \"]\" here, not \"%.*s\"", key,
                            FIRE_TOKEN_TEXT(lx));
    return fire_lexer_next(lx);
}

/* key: value, or key { ... }; a comma or semicolon may follow. */
static fire_status_t read_item(fire_values_t *v, fire_lexer_t *lx, int depth)
{
    char key[FIRE_VALUES_KEY];
    bool found;

    if (lx->token.kind == FIRE_TOKEN_END)
        return FIRE_FAIL_AT(lx, "the text ends inside \"%s\"; a } is missing", v->name);
    if (lx->token.kind != FIRE_TOKEN_NAME)
        return FIRE_FAIL_AT(lx, "a key of \"%s\" must stand here, not \"%.*s\"",
                            v->name, FIRE_TOKEN_TEXT(lx));
    if (lx->token.n >= sizeof(key))
        return FIRE_FAIL_AT(lx, "a key has at most %d characters", FIRE_VALUES_KEY - 1);
    memcpy(key, lx->token.at, lx->token.n);
    key[lx->token.n] = '\0';
    FIRE_TRY(fire_lexer_next(lx));
    FIRE_TRY(fire_lexer_accept(lx, ':', &found));
    if (!found && !fire_lexer_is(lx, '{') && !fire_lexer_is(lx, '<'))
        return FIRE_FAIL_AT(lx, "\"%s\" needs \":\" and a value, not \"%.*s\"", key,
                            FIRE_TOKEN_TEXT(lx));
    FIRE_TRY(read_values(v, lx, key, depth));
    FIRE_TRY(fire_lexer_accept(lx, ',', &found));
    return found ? FIRE_OK : fire_lexer_accept(lx, ';', &found);
}

static bool at_closing(const fire_lexer_t *lx, char closing)
{
    if (closing == '\0') return lx->token.kind == FIRE_TOKEN_END;
    return fire_lexer_is(lx, closing);
}

static fire_status_t read_items(fire_values_t *v, fire_lexer_t *lx, char closing,
                                int depth)
{
    while (!at_closing(lx, closing))
        FIRE_TRY(read_item(v, lx, depth));
    return FIRE_OK;
}

fire_status_t fire_values_read(fire_values_t *v, fire_lexer_t *lx, char closing)
{
    return read_items(v, lx, closing, 0);
}

fire_status_t fire_values_parse(fire_values_t *v, const char *text, size_t n,
                                const char *what)
{
    fire_lexer_t lx;

    FIRE_TRY(fire_lexer_init(&lx, what, text, n));
    return read_items(v, &lx, '\0', 0);
}

/* ---- printing ---- */

fire_status_t fire_values_print(const fire_values_t *v, int indent, fire_str_t *out)
{
    FIRE_TRY(fire_str_add(out, "", 0)); /* the text of an empty tree is not NULL */
    for (int64_t i = 0; i < v->n; i++) {
        const fire_value_t *item = &v->item[i];

        FIRE_TRY(fire_str_printf(out, "%*s%s", indent, "", item->key));
        if (item->kind == FIRE_VALUE_GROUP) {
            FIRE_TRY(fire_str_printf(out, " {\n"));
            FIRE_TRY(fire_values_print(item->group, indent + 2, out));
            FIRE_TRY(fire_str_printf(out, "%*s}\n", indent, ""));
            continue;
        }
        FIRE_TRY(fire_str_printf(out, ": "));
        if (item->kind == FIRE_VALUE_TEXT)
            FIRE_TRY(fire_text_print_quoted(item->text, strlen(item->text), out));
        else
            FIRE_TRY(fire_str_printf(out, "%s", item->text));
        FIRE_TRY(fire_str_printf(out, "\n"));
    }
    return FIRE_OK;
}
