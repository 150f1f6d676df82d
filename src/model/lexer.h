/* lexer.h - cuts protobuf text format into tokens, one at a time, without copying. */
#ifndef FIRE_MODEL_LEXER_H
#define FIRE_MODEL_LEXER_H
#include "base/text/text.h"

typedef enum fire_token_kind {
    FIRE_TOKEN_END,
    FIRE_TOKEN_NAME,    /* letters, digits, underscore */
    FIRE_TOKEN_INTEGER, /* decimal, 0x... or octal 0...; without sign */
    FIRE_TOKEN_FLOAT,   /* with a point, an exponent or the suffix f */
    FIRE_TOKEN_STRING,  /* with its quotes and escapes */
    FIRE_TOKEN_SYMBOL,  /* one other character */
} fire_token_kind_t;

/* A token: n characters at `at` in the text. */
typedef struct fire_token {
    fire_token_kind_t kind;
    const char       *at;
    size_t            n;
    long              line, col; /* position of its first character, from 1 */
} fire_token_t;

/* The lexer's position. It can be copied, to go back to an earlier token. */
typedef struct fire_lexer {
    const char  *file;                  /* for messages */
    const char  *at, *end, *line_start; /* next character; end of the text; this line */
    long         line;
    fire_token_t token; /* the current token */
} fire_lexer_t;

/* Read the first token of n characters of text. Neither is copied. */
fire_status_t fire_lexer_init(fire_lexer_t *lx, const char *file, const char *text,
                              size_t n);
/* Read the next token. Behind the last one, the kind is FIRE_TOKEN_END. */
fire_status_t fire_lexer_next(fire_lexer_t *lx);
/* Is the current token this symbol? */
bool fire_lexer_is(const fire_lexer_t *lx, char symbol);
/* If the current token is this symbol, read the next one; *found_p tells. */
fire_status_t fire_lexer_accept(fire_lexer_t *lx, char symbol, bool *found_p);

/* Append the bytes of the current string token, with escapes resolved. */
fire_status_t fire_lexer_unescape(const fire_lexer_t *lx, fire_str_t *out);

/* Fail with "FILE:LINE:COLUMN: MESSAGE", the position of the current token. */
#define FIRE_FAIL_AT(lx, format, ...)                                              \
    FIRE_FAIL(FIRE_ERR_PARSE, "%s:%ld:%ld: " format, (lx)->file, (lx)->token.line, \
              (lx)->token.col, __VA_ARGS__)

/* For messages: length (at most 60) and text of the current token, for "%.*s". */
#define FIRE_TOKEN_TEXT(lx) \
    (int)((lx)->token.n < 60 ? (lx)->token.n : 60), (lx)->token.at
#endif
