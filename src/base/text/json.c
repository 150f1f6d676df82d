/* json.c - the JSON reader: recursive descent, at most 100 levels deep. */
#include "base/text/json.h"

#include <string.h>
#include "base/alloc.h"
#include "base/file.h"

enum { DEPTH_MAX = 100 };

typedef struct reader {
    const char *file, *at, *end, *line_start;
    int         line, depth;
} reader_t;

static fire_status_t read_value(reader_t *r, fire_json_t *json);

static fire_status_t fail_at(const reader_t *r, const char *what)
{
    return FIRE_FAIL(FIRE_ERR_PARSE, "%s:%d:%ld: %s", r->file, r->line,
                     (long)(r->at - r->line_start) + 1, what);
}

static void skip_blank(reader_t *r)
{
    for (; r->at < r->end && strchr(" \t\r\n", *r->at) != NULL && *r->at != '\0';
         r->at++)
        if (*r->at == '\n') {
            r->line++;
            r->line_start = r->at + 1;
        }
}

static bool accept(reader_t *r, char c)
{
    skip_blank(r);
    if (r->at == r->end || *r->at != c) return false;
    r->at++;
    return true;
}

static fire_status_t read_hex4(reader_t *r, uint32_t *code_p)
{
    uint32_t code = 0;

    if (r->end - r->at < 4) return fail_at(r, "\\u needs four hex digits");
    for (int i = 0; i < 4; i++, r->at++) {
        int digit = fire_hex_value(*r->at);

        if (digit < 0) return fail_at(r, "\\u needs four hex digits");
        code = code << 4 | (uint32_t)digit;
    }
    *code_p = code;
    return FIRE_OK;
}

/* \u and four hexadecimal digits; a character beyond 16 bits is a surrogate pair, high
 * half first. */
static fire_status_t read_unicode(reader_t *r, fire_str_t *out)
{
    uint32_t code, low;

    FIRE_TRY(read_hex4(r, &code));
    if (code >= 0xD800 && code < 0xE000) {
        if (code >= 0xDC00 || r->end - r->at < 2 || r->at[0] != '\\' || r->at[1] != 'u')
            return fail_at(r, "half of a character pair");
        r->at += 2;
        FIRE_TRY(read_hex4(r, &low));
        if (low < 0xDC00 || low >= 0xE000)
            return fail_at(r, "half of a character pair");
        code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
    }
    if (code == 0) return fail_at(r, "a text cannot hold a zero byte");
    return fire_str_add_utf8(out, code);
}

static fire_status_t read_escape(reader_t *r, fire_str_t *out)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    const char       *simple = r->at < r->end && *r->at ? strchr(from, *r->at) : NULL;

    if (simple != NULL) {
        r->at++;
        return fire_str_add(out, &to[simple - from], 1);
    }
    if (r->at == r->end || *r->at != 'u') return fail_at(r, "unknown escape");
    r->at++;
    return read_unicode(r, out);
}

/* After the opening quote. */
static fire_status_t read_chars(reader_t *r, fire_str_t *out)
{
    for (;;) {
        const char *start = r->at;

        while (r->at < r->end && *r->at != '"' && *r->at != '\\' &&
               (unsigned char)*r->at >= ' ')
            r->at++;
        FIRE_TRY(fire_str_add(out, start, (size_t)(r->at - start)));
        if (r->at == r->end || (unsigned char)*r->at < ' ')
            return fail_at(r, "this text has no closing \" on its line");
        if (*r->at++ == '"') return FIRE_OK;
        FIRE_TRY(read_escape(r, out));
    }
}

static fire_status_t read_string(reader_t *r, char **text_p)
{
    fire_str_t    s  = {0};
    fire_status_t st = read_chars(r, &s);

    if (st == FIRE_OK) st = fire_str_take(&s, text_p);
    fire_str_fini(&s);
    return st;
}

static bool is_digit(const reader_t *r)
{
    return r->at < r->end && *r->at >= '0' && *r->at <= '9';
}

static fire_status_t skip_digits(reader_t *r)
{
    if (!is_digit(r)) return fail_at(r, "a digit must stand here");
    while (is_digit(r))
        r->at++;
    return FIRE_OK;
}

static fire_status_t read_number(reader_t *r, fire_json_t *json)
{
    const char *start = r->at;

    if (*r->at == '-') r->at++;
    if (is_digit(r) && *r->at == '0')
        r->at++;
    else
        FIRE_TRY(skip_digits(r));
    if (r->at < r->end && *r->at == '.') {
        r->at++;
        FIRE_TRY(skip_digits(r));
    }
    if (r->at < r->end && (*r->at == 'e' || *r->at == 'E')) {
        r->at++;
        if (r->at < r->end && (*r->at == '+' || *r->at == '-')) r->at++;
        FIRE_TRY(skip_digits(r));
    }
    json->kind = FIRE_JSON_NUMBER;
    if (!fire_number_parse(start, (size_t)(r->at - start), &json->number))
        return fail_at(r, "this number is too long");
    return FIRE_OK;
}

static fire_status_t add_item(fire_json_t *json, fire_json_t **item_p)
{
    FIRE_TRY(fire_grow(&json->item, &json->cap, json->n + 1, sizeof(*json->item)));
    *item_p = &json->item[json->n++];
    return FIRE_OK;
}

static fire_status_t read_member(reader_t *r, fire_json_t *json)
{
    fire_json_t *item;

    FIRE_TRY(add_item(json, &item));
    if (json->kind == FIRE_JSON_OBJECT) {
        if (!accept(r, '"')) return fail_at(r, "a name in \" must stand here");
        FIRE_TRY(read_string(r, &item->key));
        if (!accept(r, ':')) return fail_at(r, "a : must stand here");
    }
    return read_value(r, item);
}

/* From after the opening bracket to the closing one. */
static fire_status_t read_members(reader_t *r, fire_json_t *json, char closing)
{
    if (++r->depth > DEPTH_MAX) return fail_at(r, "more than 100 levels");
    if (!accept(r, closing)) {
        do
            FIRE_TRY(read_member(r, json));
        while (accept(r, ','));
        if (!accept(r, closing))
            return fail_at(r, closing == '}' ? "a , or } must stand here"
                                             : "a , or ] must stand here");
    }
    r->depth--;
    return FIRE_OK;
}

static bool accept_word(reader_t *r, const char *word)
{
    size_t n = strlen(word);

    if ((size_t)(r->end - r->at) < n || memcmp(r->at, word, n) != 0) return false;
    r->at += n;
    return true;
}

static fire_status_t read_value(reader_t *r, fire_json_t *json)
{
    skip_blank(r);
    json->line = r->line;
    if (r->at == r->end) return fail_at(r, "the file ends where a value must stand");
    if (is_digit(r) || *r->at == '-') return read_number(r, json);
    if (accept(r, '{')) {
        json->kind = FIRE_JSON_OBJECT;
        return read_members(r, json, '}');
    }
    if (accept(r, '[')) {
        json->kind = FIRE_JSON_ARRAY;
        return read_members(r, json, ']');
    }
    if (accept(r, '"')) {
        json->kind = FIRE_JSON_STRING;
        return read_string(r, &json->string);
    }
    if (accept_word(r, "null")) return FIRE_OK;
    json->boolean = accept_word(r, "true");
    if (!json->boolean && !accept_word(r, "false"))
        return fail_at(r, "this is no JSON value");
    json->kind = FIRE_JSON_BOOL;
    return FIRE_OK;
}

fire_status_t fire_json_parse(const char *text, size_t n, const char *file,
                              fire_json_t **json_p)
{
    reader_t      r = {file, text, text + n, text, 1, 0};
    fire_json_t  *json;
    fire_status_t st;

    FIRE_TRY(FIRE_NEW(&json, 1));
    st = read_value(&r, json);
    skip_blank(&r);
    if (st == FIRE_OK && r.at < r.end) st = fail_at(&r, "something follows the value");
    if (st == FIRE_OK)
        *json_p = json;
    else
        fire_json_free(json);
    return st;
}

fire_status_t fire_json_load(const char *path, fire_json_t **json_p)
{
    char         *text = NULL;
    size_t        n    = 0;
    fire_status_t st;

    FIRE_TRY(fire_file_read(path, &text, &n));
    st = fire_json_parse(text, n, path, json_p);
    fire_free(text);
    return st;
}

static void fini(fire_json_t *json)
{
    for (int64_t i = 0; i < json->n; i++)
        fini(&json->item[i]);
    fire_free(json->item);
    fire_free(json->key);
    fire_free(json->string);
}

void fire_json_free(fire_json_t *json)
{
    if (json == NULL) return;
    fini(json);
    fire_free(json);
}

const fire_json_t *fire_json_get(const fire_json_t *json, const char *key)
{
    if (json == NULL || json->kind != FIRE_JSON_OBJECT) return NULL;
    for (int64_t i = json->n; i-- > 0;)
        if (strcmp(json->item[i].key, key) == 0) return &json->item[i];
    return NULL;
}

static const fire_json_t *get_kind(const fire_json_t *json, const char *key,
                                   fire_json_kind_t kind)
{
    const fire_json_t *item = fire_json_get(json, key);

    return item != NULL && item->kind == kind ? item : NULL;
}

fire_status_t fire_json_want(const fire_json_t *json, const char *key,
                             fire_json_kind_t kind, const fire_json_t **item_p)
{
    static const char *const names[] = {"null",   "true or false", "a number",
                                        "a text", "an array",      "an object"};
    const fire_json_t       *item    = fire_json_get(json, key);

    if (item == NULL)
        return FIRE_FAIL(FIRE_ERR_PARSE, "line %d: \"%s\" is missing",
                         json != NULL ? json->line : 0, key);
    if (item->kind != kind)
        return FIRE_FAIL(FIRE_ERR_PARSE, "line %d: \"%s\" must be %s, not %s",
                         item->line, key, names[kind], names[item->kind]);
    *item_p = item;
    return FIRE_OK;
}

double fire_json_number_or(const fire_json_t *json, const char *key, double other)
{
    const fire_json_t *item = get_kind(json, key, FIRE_JSON_NUMBER);

    return item != NULL ? item->number : other;
}

const char *fire_json_string_or(const fire_json_t *json, const char *key,
                                const char *other)
{
    const fire_json_t *item = get_kind(json, key, FIRE_JSON_STRING);

    return item != NULL ? item->string : other;
}

bool fire_json_bool_or(const fire_json_t *json, const char *key, bool other)
{
    const fire_json_t *item = get_kind(json, key, FIRE_JSON_BOOL);

    return item != NULL ? item->boolean : other;
}
