/* lexer.h - cuts protobuf text format into tokens, one at a time. */
#ifndef FIRE_MODEL_LEXER_H
#define FIRE_MODEL_LEXER_H
#include "base/text/text.h"

typedef enum fire_token_kind {
    FIRE_TOKEN_END,
    FIRE_TOKEN_NAME,    /* letters, digits, underscore */
    FIRE_TOKEN_INTEGER, /* decimal, 0x hexadecimal or 0 octal, no sign */
    FIRE_TOKEN_FLOAT,   /* with point, exponent or the suffix f */
    FIRE_TOKEN_STRING,  /* with its quotes, escapes untouched */
    FIRE_TOKEN_SYMBOL,  /* any other character, alone */
} fire_token_kind_t;

typedef struct fire_token {
    fire_token_kind_t kind;
    const char       *at;
    size_t            n;
    long              line, col; /* of its first character, from 1 */
} fire_token_t;

typedef struct fire_lexer {
    const char  *file, *at, *end, *line_start;
    long         line;
    fire_token_t token; /* the one to look at */
} fire_lexer_t;

/* Start at the first token of [text, text + n). */
fire_status_t fire_lexer_init(fire_lexer_t *lx, const char *file, const char *text,
                              size_t n);
fire_status_t fire_lexer_next(fire_lexer_t *lx);
bool          fire_lexer_is(const fire_lexer_t *lx, char symbol);
/* Take the symbol if it is there. */
fire_status_t fire_lexer_accept(fire_lexer_t *lx, char symbol, bool *found_p);

/* Append the bytes that the string token stands for. */
fire_status_t fire_lexer_unescape(const fire_lexer_t *lx, fire_str_t *out);

/* An error at the present token: "file:line:col: message". */
#define FIRE_FAIL_AT(lx, format, ...)                                              \
    FIRE_FAIL(FIRE_ERR_PARSE, "%s:%ld:%ld: " format, (lx)->file, (lx)->token.line, \
              (lx)->token.col, __VA_ARGS__)

/* For messages: the token's text, cut if it is long; "%.*s" takes both. */
#define FIRE_TOKEN_TEXT(lx) \
    (int)((lx)->token.n < 60 ? (lx)->token.n : 60), (lx)->token.at
#endif
