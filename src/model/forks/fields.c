/* fields.c - fields of forks: finding one, and reading past one. */
#include "model/forks/forks.h"

#include <string.h>

static const fire_fork_field_t fields[] = {
#define FIRE_FORK_FIELD(message, field, fork, kind) \
    {#message, #field, fork, FIRE_FORK_##kind},
#include "model/forks/forks.def"
#undef FIRE_FORK_FIELD
};

const fire_fork_field_t *fire_fork_field_find(const ProtobufCMessageDescriptor *desc,
                                              const char                       *name)
{
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
        if (strcmp(fields[i].message, desc->short_name) == 0 &&
            strcmp(fields[i].name, name) == 0)
            return &fields[i];
    return NULL;
}

/* Is the current token one of these symbols? */
static bool is_any_of(const fire_lexer_t *lx, const char *symbols)
{
    return lx->token.kind == FIRE_TOKEN_SYMBOL &&
           strchr(symbols, *lx->token.at) != NULL;
}

/* Everything from a bracket to the one that closes it. */
static fire_status_t skip_brackets(fire_lexer_t *lx, const fire_fork_field_t *field)
{
    int depth = 0;

    do {
        if (lx->token.kind == FIRE_TOKEN_END)
            return FIRE_FAIL_AT(lx, "the file ends inside field \"%s\"", field->name);
        depth += is_any_of(lx, "{<[") - is_any_of(lx, "}>]");
        FIRE_TRY(fire_lexer_next(lx));
    } while (depth > 0);
    return FIRE_OK;
}

/* One value: { ... }, [ ... ], a number, a word or texts one after another. */
static fire_status_t skip_value(fire_lexer_t *lx, const fire_fork_field_t *field)
{
    bool minus;

    if (is_any_of(lx, "{<[")) return skip_brackets(lx, field);
    FIRE_TRY(fire_lexer_accept(lx, '-', &minus));
    if (lx->token.kind == FIRE_TOKEN_END || lx->token.kind == FIRE_TOKEN_SYMBOL)
        return FIRE_FAIL_AT(lx, "field \"%s\" needs a value", field->name);
    while (lx->token.kind == FIRE_TOKEN_STRING) {
        FIRE_TRY(fire_lexer_next(lx));
        if (lx->token.kind != FIRE_TOKEN_STRING) return FIRE_OK;
    }
    return fire_lexer_next(lx);
}

fire_status_t fire_fork_field_skip(fire_lexer_t *lx, const fire_fork_field_t *field,
                                   fire_str_t *skipped)
{
    fire_str_t    entry = {0};
    bool          found;
    fire_status_t st;

    FIRE_TRY(fire_lexer_next(lx));
    FIRE_TRY(fire_lexer_accept(lx, ':', &found));
    FIRE_TRY(skip_value(lx, field));
    st = fire_str_printf(&entry, ", %s (%s)", field->name, field->fork);
    if (st >= 0 && (skipped->text == NULL || strstr(skipped->text, entry.text) == NULL))
        st = fire_str_printf(skipped, "%s", entry.text);
    fire_str_fini(&entry);
    FIRE_TRY(st);
    FIRE_TRY(fire_lexer_accept(lx, ',', &found));
    return found ? FIRE_OK : fire_lexer_accept(lx, ';', &found);
}
