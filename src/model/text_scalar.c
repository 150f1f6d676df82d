/* text_scalar.c - parses one number, boolean, enum or text of text format, with
 * protobuf's ranges and spellings. */
#include "model/text_scalar.h"

#include <limits.h>
#include <math.h>
#include <string.h>
#include <strings.h>

enum { KNOWN_MAX = 320 };

/* Name i, for fire_name_list(). */
static const char *enum_name_at(const void *list, int i)
{
    const ProtobufCEnumDescriptor *desc = list;

    return (unsigned)i < desc->n_values ? desc->values[i].name : NULL;
}

/* Fail with the list of known values. */
static fire_status_t fail_enum(const fire_lexer_t *lx, const fire_field_t *field)
{
    char known[KNOWN_MAX];

    fire_name_list(enum_name_at, field->descriptor, known, sizeof(known));
    return FIRE_FAIL_AT(lx, "field \"%s\" cannot be \"%.*s\"; known values: %s",
                        field->name, FIRE_TOKEN_TEXT(lx), known);
}

/* The end of the file has no text to show. */
fire_status_t fire_text_fail_expected(const fire_lexer_t *lx, const fire_field_t *field,
                                      const char *what)
{
    if (lx->token.kind == FIRE_TOKEN_END)
        return FIRE_FAIL_AT(lx, "field \"%s\" needs %s, but the file ends here",
                            field->name, what);
    return FIRE_FAIL_AT(lx, "field \"%s\" needs %s, not \"%.*s\"", field->name, what,
                        FIRE_TOKEN_TEXT(lx));
}

/* The value of an integer token; false if it does not fit in 64 bits. */
static bool integer_value(const fire_token_t *t, uint64_t *value_p)
{
    const char *at = t->at, *end = t->at + t->n;
    uint64_t    value = 0, base = 10;

    if (t->kind != FIRE_TOKEN_INTEGER) return false;
    if (t->n > 1 && at[0] == '0') {
        base = at[1] == 'x' || at[1] == 'X' ? 16 : 8;
        at += base == 16 ? 2 : 1;
    }
    for (; at < end; at++) {
        int digit = fire_hex_value(*at);

        if (__builtin_mul_overflow(value, base, &value) ||
            __builtin_add_overflow(value, (uint64_t)digit, &value))
            return false;
    }
    *value_p = value;
    return true;
}

/* Parse an integer of [-low, high]; the value is in two's complement. */
static fire_status_t read_integer(fire_lexer_t *lx, const fire_field_t *field,
                                  uint64_t low, uint64_t high, uint64_t *value_p)
{
    uint64_t value;
    bool     minus;

    FIRE_TRY(fire_lexer_accept(lx, '-', &minus));
    if (lx->token.kind != FIRE_TOKEN_INTEGER)
        return fire_text_fail_expected(lx, field, "an integer");
    if (!integer_value(&lx->token, &value) || value > (minus ? low : high))
        return FIRE_FAIL_AT(
            lx, "%s%.*s is out of the range of field \"%s\", %s%llu to %llu",
            minus ? "-" : "", FIRE_TOKEN_TEXT(lx), field->name, low > 0 ? "-" : "",
            (unsigned long long)low, (unsigned long long)high);
    *value_p = minus ? -value : value;
    return fire_lexer_next(lx);
}

/* Is the token exactly this word? */
static bool token_is(const fire_token_t *t, const char *word)
{
    return t->n == strlen(word) && memcmp(t->at, word, t->n) == 0;
}

/* Is it this word, in any case ("nan", "NaN")? */
static bool token_is_any_case(const fire_token_t *t, const char *word)
{
    return t->kind == FIRE_TOKEN_NAME && t->n == strlen(word) &&
           strncasecmp(t->at, word, t->n) == 0;
}

/* A number, nan or inf, with an optional minus. */
static fire_status_t read_real(fire_lexer_t *lx, const fire_field_t *field,
                               double *value_p)
{
    const fire_token_t *t = &lx->token;
    double              value;
    bool                minus;

    FIRE_TRY(fire_lexer_accept(lx, '-', &minus));
    if (token_is_any_case(t, "nan")) {
        value = NAN;
    } else if (token_is_any_case(t, "inf") || token_is_any_case(t, "infinity")) {
        value = INFINITY;
    } else if (t->kind == FIRE_TOKEN_INTEGER || t->kind == FIRE_TOKEN_FLOAT) {
        bool   suffix = t->kind == FIRE_TOKEN_FLOAT && (t->at[t->n - 1] | 0x20) == 'f';
        bool   prefix = t->kind == FIRE_TOKEN_INTEGER && t->n > 1 && *t->at == '0';
        size_t n      = suffix ? t->n - 1 : t->n;

        if (prefix || !fire_number_parse(t->at, n, &value))
            return fire_text_fail_expected(lx, field, "a decimal number");
    } else {
        return fire_text_fail_expected(lx, field, "a number");
    }
    *value_p = minus ? -value : value;
    return fire_lexer_next(lx);
}

/* The spellings that protobuf accepts. */
static fire_status_t read_bool(fire_lexer_t *lx, const fire_field_t *field, void *slot)
{
    static const char *const yes[] = {"true", "True", "t", "1"},
                             *no[] = {"false", "False", "f", "0"};
    const fire_token_t *t          = &lx->token;

    for (int i = 0; i < 4; i++) {
        bool is = token_is(t, yes[i]);

        if (!is && !token_is(t, no[i])) continue;
        *(protobuf_c_boolean *)slot = is;
        return fire_lexer_next(lx);
    }
    return fire_text_fail_expected(lx, field, "true or false");
}

/* A name of the enum, or the number of one. */
static fire_status_t read_enum(fire_lexer_t *lx, const fire_field_t *field, void *slot)
{
    const ProtobufCEnumDescriptor *desc = field->descriptor;
    const fire_token_t            *t    = &lx->token;

    for (unsigned i = 0; i < desc->n_values; i++) {
        if (!token_is(t, desc->values[i].name)) continue;
        *(int *)slot = desc->values[i].value;
        return fire_lexer_next(lx);
    }
    if (t->kind == FIRE_TOKEN_INTEGER || fire_lexer_is(lx, '-')) {
        fire_lexer_t before = *lx;
        uint64_t     value;

        FIRE_TRY(read_integer(lx, field, (uint64_t)INT_MAX + 1, INT_MAX, &value));
        if (protobuf_c_enum_descriptor_get_value(desc, (int)value) != NULL) {
            *(int *)slot = (int)value;
            return FIRE_OK;
        }
        *lx = before;
    }
    return fail_enum(lx, field);
}

/* Strings in a row are concatenated, as in C. */
static fire_status_t read_strings(fire_lexer_t *lx, const fire_field_t *field,
                                  fire_str_t *out)
{
    if (lx->token.kind != FIRE_TOKEN_STRING)
        return fire_text_fail_expected(lx, field, "a text in quotes");
    while (lx->token.kind == FIRE_TOKEN_STRING) {
        FIRE_TRY(fire_lexer_unescape(lx, out));
        FIRE_TRY(fire_lexer_next(lx));
    }
    return FIRE_OK;
}

/* A string field cannot hold a zero byte, since it becomes a C string; a bytes field
 * can. */
static fire_status_t read_text(fire_lexer_t *lx, const fire_field_t *field, void *slot)
{
    fire_str_t    s     = {0};
    fire_lexer_t  start = *lx;
    fire_status_t st    = read_strings(lx, field, &s);
    size_t        n     = (size_t)s.n;
    char         *text  = NULL;

    if (st == FIRE_OK && field->type == PROTOBUF_C_TYPE_STRING && n > 0 &&
        memchr(s.text, '\0', n) != NULL)
        st = FIRE_FAIL_AT(&start, "the text of field \"%s\" holds a zero byte",
                          field->name);
    if (st == FIRE_OK) st = fire_str_take(&s, &text);
    if (st < 0) {
        fire_str_fini(&s);
        return st;
    }
    if (field->type == PROTOBUF_C_TYPE_STRING)
        *(char **)slot = text;
    else
        *(ProtobufCBinaryData *)slot = (ProtobufCBinaryData){n, (uint8_t *)text};
    return FIRE_OK;
}

/* Ranges by the type of the field. */
static fire_status_t read_number(fire_lexer_t *lx, const fire_field_t *field,
                                 void *slot)
{
    uint64_t integer = 0;
    double   real;

    switch (field->type) {
    case PROTOBUF_C_TYPE_FLOAT:
        FIRE_TRY(read_real(lx, field, &real));
        *(float *)slot = (float)real; /* rounded from double, as protobuf does */
        return FIRE_OK;
    case PROTOBUF_C_TYPE_DOUBLE:
        return read_real(lx, field, slot);
    case PROTOBUF_C_TYPE_INT64:
    case PROTOBUF_C_TYPE_SINT64:
    case PROTOBUF_C_TYPE_SFIXED64:
        return read_integer(lx, field, (uint64_t)INT64_MAX + 1, INT64_MAX, slot);
    case PROTOBUF_C_TYPE_UINT64:
    case PROTOBUF_C_TYPE_FIXED64:
        return read_integer(lx, field, 0, UINT64_MAX, slot);
    case PROTOBUF_C_TYPE_UINT32:
    case PROTOBUF_C_TYPE_FIXED32:
        FIRE_TRY(read_integer(lx, field, 0, UINT32_MAX, &integer));
        break;
    default:
        FIRE_TRY(read_integer(lx, field, (uint64_t)INT32_MAX + 1, INT32_MAX, &integer));
    }
    *(uint32_t *)slot = (uint32_t)integer;
    return FIRE_OK;
}

fire_status_t fire_text_read_scalar(fire_lexer_t *lx, const fire_field_t *field,
                                    void *slot)
{
    switch (field->type) {
    case PROTOBUF_C_TYPE_STRING:
    case PROTOBUF_C_TYPE_BYTES:
        return read_text(lx, field, slot);
    case PROTOBUF_C_TYPE_BOOL:
        return read_bool(lx, field, slot);
    case PROTOBUF_C_TYPE_ENUM:
        return read_enum(lx, field, slot);
    default:
        return read_number(lx, field, slot);
    }
}
