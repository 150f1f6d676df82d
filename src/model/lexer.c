/* lexer.c - tokens of protobuf text format, with protobuf's rules for numbers, strings
 * and escapes. */
#include "model/lexer.h"

#include <string.h>

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_octal(char c)
{
    return c >= '0' && c <= '7';
}

/* The k-th character after the current one; '\0' after the end of the text. */
static char peek(const fire_lexer_t *lx, size_t k)
{
    return (size_t)(lx->end - lx->at) > k ? lx->at[k] : '\0';
}

/* Skip white space and #-comments, and count lines. */
static void skip_blank(fire_lexer_t *lx)
{
    for (; lx->at < lx->end; lx->at++) {
        if (*lx->at == '#') {
            const char *eol = memchr(lx->at, '\n', (size_t)(lx->end - lx->at));

            lx->at = eol != NULL ? eol : lx->end;
            if (eol == NULL) return;
        }
        if (*lx->at == '\n') {
            lx->line++;
            lx->line_start = lx->at + 1;
        } else if (strchr(" \t\r\v\f", *lx->at) == NULL || *lx->at == '\0') {
            return;
        }
    }
}

static void skip_digits(fire_lexer_t *lx)
{
    while (is_digit(peek(lx, 0)))
        lx->at++;
}

/* 12, 1.5, .5, 1e-3, 1f */
static fire_status_t lex_decimal(fire_lexer_t *lx)
{
    bool is_float = false;

    skip_digits(lx);
    if (peek(lx, 0) == '.') {
        is_float = true;
        lx->at++;
        skip_digits(lx);
    }
    if (peek(lx, 0) == 'e' || peek(lx, 0) == 'E') {
        is_float = true;
        lx->at++;
        if (peek(lx, 0) == '+' || peek(lx, 0) == '-') lx->at++;
        if (!is_digit(peek(lx, 0)))
            return FIRE_FAIL_AT(lx, "%s", "the exponent of this number has no digits");
        skip_digits(lx);
    }
    if (peek(lx, 0) == 'f' || peek(lx, 0) == 'F') {
        is_float = true;
        lx->at++;
    }
    lx->token.kind = is_float ? FIRE_TOKEN_FLOAT : FIRE_TOKEN_INTEGER;
    return FIRE_OK;
}

/* 0x1F, 017, or a decimal. */
static fire_status_t lex_number(fire_lexer_t *lx)
{
    char second = peek(lx, 1);

    lx->token.kind = FIRE_TOKEN_INTEGER;
    if (*lx->at == '0' && (second == 'x' || second == 'X')) {
        lx->at += 2;
        if (fire_hex_value(peek(lx, 0)) < 0)
            return FIRE_FAIL_AT(lx, "%s", "\"0x\" must be followed by hex digits");
        while (fire_hex_value(peek(lx, 0)) >= 0)
            lx->at++;
        return FIRE_OK;
    }
    if (*lx->at == '0' && is_digit(second)) {
        while (is_octal(peek(lx, 0)))
            lx->at++;
        if (is_digit(peek(lx, 0)))
            return FIRE_FAIL_AT(lx, "%s",
                                "a number with a leading zero is octal and cannot hold "
                                "the digits 8 and 9");
        return FIRE_OK;
    }
    return lex_decimal(lx);
}

/* A string ends on its own line; a backslash protects the next character. */
static fire_status_t lex_string(fire_lexer_t *lx)
{
    char quote = *lx->at;

    lx->token.kind = FIRE_TOKEN_STRING;
    for (lx->at++; lx->at < lx->end && *lx->at != '\n'; lx->at++) {
        if (*lx->at == quote) {
            lx->at++;
            return FIRE_OK;
        }
        if (*lx->at == '\\' && peek(lx, 1) != '\n' && lx->at + 1 < lx->end) lx->at++;
    }
    return FIRE_FAIL_AT(lx, "this string has no closing %c on its line", quote);
}

/* The first character decides the kind of the token. */
fire_status_t fire_lexer_next(fire_lexer_t *lx)
{
    fire_status_t st = FIRE_OK;
    char          c;

    skip_blank(lx);
    lx->token = (fire_token_t){.kind = FIRE_TOKEN_END,
                               .at   = lx->at,
                               .line = lx->line,
                               .col  = (long)(lx->at - lx->line_start) + 1};
    if (lx->at == lx->end) return FIRE_OK;
    c = *lx->at;
    if (is_letter(c)) {
        lx->token.kind = FIRE_TOKEN_NAME;
        while (is_letter(peek(lx, 0)) || is_digit(peek(lx, 0)))
            lx->at++;
    } else if (is_digit(c) || (c == '.' && is_digit(peek(lx, 1)))) {
        st = lex_number(lx);
    } else if (c == '"' || c == '\'') {
        st = lex_string(lx);
    } else {
        lx->token.kind = FIRE_TOKEN_SYMBOL;
        lx->at++;
        if (c < ' ' || c > '~')
            st = FIRE_FAIL_AT(lx, "stray byte 0x%02x; a prototxt holds plain text",
                              (unsigned char)c);
    }
    lx->token.n = (size_t)(lx->at - lx->token.at);
    return st;
}

/* line_start is where column 1 is. */
fire_status_t fire_lexer_init(fire_lexer_t *lx, const char *file, const char *text,
                              size_t n)
{
    *lx = (fire_lexer_t){file, text, text + n, text, 1, {0}};
    /* Skip the byte order mark that some editors write. */
    if (n >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) lx->at = lx->line_start += 3;
    return fire_lexer_next(lx);
}

bool fire_lexer_is(const fire_lexer_t *lx, char symbol)
{
    return lx->token.kind == FIRE_TOKEN_SYMBOL && *lx->token.at == symbol;
}

fire_status_t fire_lexer_accept(fire_lexer_t *lx, char symbol, bool *found_p)
{
    *found_p = fire_lexer_is(lx, symbol);
    return *found_p ? fire_lexer_next(lx) : FIRE_OK;
}

/* Read up to `most` digits; false if there are fewer than `fewest`. *at moves to the
 * character after them. */
static bool read_digits(const char **at, const char *end, uint32_t base, int fewest,
                        int most, uint32_t *value_p)
{
    uint32_t value = 0;
    int      n     = 0;

    for (; n < most && *at < end; n++, ++*at) {
        int digit = fire_hex_value(**at);

        if (digit < 0 || (uint32_t)digit >= base) break;
        value = value * base + (uint32_t)digit;
    }
    *value_p = value;
    return n >= fewest;
}

/* Resolve one escape; *at points after the backslash, then after the escape. */
static fire_status_t unescape_one(const fire_lexer_t *lx, const char **at,
                                  const char *end, fire_str_t *out)
{
    static const char from[] = "abfnrtv\\'\"?", to[] = "\a\b\f\n\r\t\v\\'\"?";
    const char       *simple = strchr(from, **at);
    uint32_t          code   = 0;
    char              byte, c = **at;

    if (c != '\0' && simple != NULL) {
        ++*at;
        return fire_str_add(out, &to[simple - from], 1);
    }
    if (c == 'u' || c == 'U') {
        int digits = c == 'u' ? 4 : 8;

        ++*at;
        if (!read_digits(at, end, 16, digits, digits, &code) || code > 0x10FFFF)
            return FIRE_FAIL_AT(lx,
                                "\\%c must be followed by %d hex digits of a "
                                "Unicode character",
                                c, digits);
        return fire_str_add_utf8(out, code);
    }
    if (c == 'x' || c == 'X') {
        ++*at;
        if (!read_digits(at, end, 16, 1, 2, &code))
            return FIRE_FAIL_AT(lx, "%s", "\\x must be followed by hex digits");
    } else if (!read_digits(at, end, 8, 1, 3, &code) || code > 255) {
        return FIRE_FAIL_AT(lx, "%s",
                            "unknown escape in this string; write \\\\ for a "
                            "backslash");
    }
    byte = (char)code;
    return fire_str_add(out, &byte, 1);
}

/* The token includes both quotes, which are skipped here. */
fire_status_t fire_lexer_unescape(const fire_lexer_t *lx, fire_str_t *out)
{
    const char *at = lx->token.at + 1, *end = lx->token.at + lx->token.n - 1;

    while (at < end) {
        const char *slash = memchr(at, '\\', (size_t)(end - at));
        const char *stop  = slash != NULL ? slash : end;

        FIRE_TRY(fire_str_add(out, at, (size_t)(stop - at)));
        at = stop;
        if (slash != NULL) {
            at++;
            FIRE_TRY(unescape_one(lx, &at, end, out));
        }
    }
    return FIRE_OK;
}
