/* text_reader.c - text format to message, by recursive descent. As protobuf's own
 * reader does, a field that is not repeated may be given only once. */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include "base/alloc.h"
#include "model/lexer.h"
#include "model/text.h"

enum { DEPTH_MAX = 100, KNOWN_MAX = 320 };

typedef struct reader {
    fire_lexer_t lx;
    int          depth;
} reader_t;

/* One message being read. For each field: how many values its array can hold
 * (repeated), or whether it was seen. */
typedef struct frame {
    ProtobufCMessage *msg;
    int64_t          *cap;
} frame_t;

static fire_status_t read_message(reader_t *r, ProtobufCMessage *msg, char closing);

static const char *field_name_at(const void *list, int i)
{
    const ProtobufCMessageDescriptor *desc = list;

    return (unsigned)i < desc->n_fields ? desc->fields[i].name : NULL;
}

static const char *enum_name_at(const void *list, int i)
{
    const ProtobufCEnumDescriptor *desc = list;

    return (unsigned)i < desc->n_values ? desc->values[i].name : NULL;
}

/* "a, b, c" as far as there is room. */
static void list_names(fire_name_at_t name_at, const void *list, char out[KNOWN_MAX])
{
    const char *name;
    size_t      n = 0;

    out[0] = '\0';
    for (int i = 0; (name = name_at(list, i)) != NULL; i++) {
        if (n + strlen(name) + 8 > KNOWN_MAX) {
            strcpy(out + n, ", ...");
            return;
        }
        n += (size_t)sprintf(out + n, "%s%s", i > 0 ? ", " : "", name);
    }
}

static fire_status_t fail_field(const reader_t                   *r,
                                const ProtobufCMessageDescriptor *desc)
{
    const fire_lexer_t *lx = &r->lx;
    char                word[64], known[KNOWN_MAX];
    const char         *near;

    snprintf(word, sizeof(word), "%.*s", FIRE_TOKEN_TEXT(lx));
    near = fire_name_nearest(word, field_name_at, desc);
    if (near != NULL)
        return FIRE_FAIL_AT(lx,
                            "message \"%s\" has no field \"%s\"; did you mean \"%s\"?",
                            desc->short_name, word, near);
    list_names(field_name_at, desc, known);
    return FIRE_FAIL_AT(lx, "message \"%s\" has no field \"%s\"; it has: %s",
                        desc->short_name, word, known);
}

static fire_status_t fail_enum(const reader_t *r, const fire_field_t *field)
{
    char known[KNOWN_MAX];

    list_names(enum_name_at, field->descriptor, known);
    return FIRE_FAIL_AT(&r->lx, "field \"%s\" cannot be \"%.*s\"; known values: %s",
                        field->name, FIRE_TOKEN_TEXT(&r->lx), known);
}

static fire_status_t fail_expected(const reader_t *r, const fire_field_t *field,
                                   const char *what)
{
    if (r->lx.token.kind == FIRE_TOKEN_END)
        return FIRE_FAIL_AT(&r->lx, "field \"%s\" needs %s, but the file ends here",
                            field->name, what);
    return FIRE_FAIL_AT(&r->lx, "field \"%s\" needs %s, not \"%.*s\"", field->name,
                        what, FIRE_TOKEN_TEXT(&r->lx));
}

/* Take the symbol if it is there. */
static fire_status_t accept(reader_t *r, char symbol, bool *found_p)
{
    *found_p = fire_lexer_is(&r->lx, symbol);
    return *found_p ? fire_lexer_next(&r->lx) : FIRE_OK;
}

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
        int digit = *at <= '9' ? *at - '0' : (*at | 0x20) - 'a' + 10;

        if (__builtin_mul_overflow(value, base, &value) ||
            __builtin_add_overflow(value, (uint64_t)digit, &value))
            return false;
    }
    *value_p = value;
    return true;
}

/* An integer of [-low, high], as two's complement. */
static fire_status_t read_integer(reader_t *r, const fire_field_t *field, uint64_t low,
                                  uint64_t high, uint64_t *value_p)
{
    uint64_t value;
    bool     minus;

    FIRE_TRY(accept(r, '-', &minus));
    if (r->lx.token.kind != FIRE_TOKEN_INTEGER)
        return fail_expected(r, field, "an integer");
    if (!integer_value(&r->lx.token, &value) || value > (minus ? low : high))
        return FIRE_FAIL_AT(
            &r->lx, "%s%.*s is out of the range of field \"%s\", %s%llu to %llu",
            minus ? "-" : "", FIRE_TOKEN_TEXT(&r->lx), field->name, low > 0 ? "-" : "",
            (unsigned long long)low, (unsigned long long)high);
    *value_p = minus ? -value : value;
    return fire_lexer_next(&r->lx);
}

static bool token_is(const fire_token_t *t, const char *word)
{
    return t->n == strlen(word) && strncasecmp(t->at, word, t->n) == 0;
}

static fire_status_t read_real(reader_t *r, const fire_field_t *field, double *value_p)
{
    const fire_token_t *t = &r->lx.token;
    double              value;
    bool                minus;

    FIRE_TRY(accept(r, '-', &minus));
    if (t->kind == FIRE_TOKEN_NAME && token_is(t, "nan")) {
        value = NAN;
    } else if (t->kind == FIRE_TOKEN_NAME &&
               (token_is(t, "inf") || token_is(t, "infinity"))) {
        value = INFINITY;
    } else if (t->kind == FIRE_TOKEN_INTEGER || t->kind == FIRE_TOKEN_FLOAT) {
        bool   suffix = t->kind == FIRE_TOKEN_FLOAT && (t->at[t->n - 1] | 0x20) == 'f';
        bool   prefix = t->kind == FIRE_TOKEN_INTEGER && t->n > 1 && *t->at == '0';
        size_t n      = suffix ? t->n - 1 : t->n;

        if (prefix || !fire_number_parse(t->at, n, &value))
            return fail_expected(r, field, "a decimal number");
    } else {
        return fail_expected(r, field, "a number");
    }
    *value_p = minus ? -value : value;
    return fire_lexer_next(&r->lx);
}

static fire_status_t read_bool(reader_t *r, const fire_field_t *field, void *slot)
{
    static const char *const yes[] = {"true", "True", "t", "1"},
                             *no[] = {"false", "False", "f", "0"};
    const fire_token_t *t          = &r->lx.token;

    for (int i = 0; i < 4; i++) {
        bool is = t->n == strlen(yes[i]) && memcmp(t->at, yes[i], t->n) == 0;

        if (!is && !(t->n == strlen(no[i]) && memcmp(t->at, no[i], t->n) == 0))
            continue;
        *(protobuf_c_boolean *)slot = is;
        return fire_lexer_next(&r->lx);
    }
    return fail_expected(r, field, "true or false");
}

static fire_status_t read_enum(reader_t *r, const fire_field_t *field, void *slot)
{
    const ProtobufCEnumDescriptor *desc = field->descriptor;
    const fire_token_t             t    = r->lx.token;

    for (unsigned i = 0; t.kind == FIRE_TOKEN_NAME && i < desc->n_values; i++) {
        const char *name = desc->values[i].name;

        if (t.n != strlen(name) || memcmp(t.at, name, t.n) != 0) continue;
        *(int *)slot = desc->values[i].value;
        return fire_lexer_next(&r->lx);
    }
    if (t.kind == FIRE_TOKEN_INTEGER || fire_lexer_is(&r->lx, '-')) {
        fire_lexer_t before = r->lx;
        uint64_t     value;

        FIRE_TRY(read_integer(r, field, (uint64_t)INT_MAX + 1, INT_MAX, &value));
        if (protobuf_c_enum_descriptor_get_value(desc, (int)value) != NULL) {
            *(int *)slot = (int)value;
            return FIRE_OK;
        }
        r->lx = before;
    }
    return fail_enum(r, field);
}

/* One or more strings in a row are one string. */
static fire_status_t read_strings(reader_t *r, const fire_field_t *field,
                                  fire_str_t *out)
{
    if (r->lx.token.kind != FIRE_TOKEN_STRING)
        return fail_expected(r, field, "a text in quotes");
    while (r->lx.token.kind == FIRE_TOKEN_STRING) {
        FIRE_TRY(fire_lexer_unescape(&r->lx, out));
        FIRE_TRY(fire_lexer_next(&r->lx));
    }
    return FIRE_OK;
}

static fire_status_t read_text(reader_t *r, const fire_field_t *field, void *slot)
{
    fire_str_t    s     = {0};
    fire_lexer_t  start = r->lx;
    fire_status_t st    = read_strings(r, field, &s);
    size_t        n     = (size_t)s.n;
    char         *text;

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

static fire_status_t read_submessage(reader_t *r, const fire_field_t *field, void *slot)
{
    ProtobufCMessage *sub;
    char              closing = '}';
    bool              open, angle = false;

    FIRE_TRY(accept(r, '{', &open));
    if (!open) FIRE_TRY(accept(r, '<', &angle));
    if (!open && !angle) return fail_expected(r, field, "{ ... }");
    if (angle) closing = '>';
    if (r->depth == DEPTH_MAX)
        return FIRE_FAIL_AT(&r->lx, "more than %d messages inside one another",
                            DEPTH_MAX);
    FIRE_TRY(fire_message_create(field->descriptor, &sub));
    *(ProtobufCMessage **)slot = sub; /* from here the parent frees it */
    r->depth++;
    FIRE_TRY(read_message(r, sub, closing));
    r->depth--;
    return fire_lexer_next(&r->lx);
}

static fire_status_t read_number(reader_t *r, const fire_field_t *field, void *slot)
{
    uint64_t integer = 0;
    double   real;

    switch (field->type) {
    case PROTOBUF_C_TYPE_FLOAT:
        FIRE_TRY(read_real(r, field, &real));
        *(float *)slot = (float)real; /* through double, as protobuf rounds */
        return FIRE_OK;
    case PROTOBUF_C_TYPE_DOUBLE:
        return read_real(r, field, slot);
    case PROTOBUF_C_TYPE_INT64:
    case PROTOBUF_C_TYPE_SINT64:
    case PROTOBUF_C_TYPE_SFIXED64:
        return read_integer(r, field, (uint64_t)INT64_MAX + 1, INT64_MAX, slot);
    case PROTOBUF_C_TYPE_UINT64:
    case PROTOBUF_C_TYPE_FIXED64:
        return read_integer(r, field, 0, UINT64_MAX, slot);
    case PROTOBUF_C_TYPE_UINT32:
    case PROTOBUF_C_TYPE_FIXED32:
        FIRE_TRY(read_integer(r, field, 0, UINT32_MAX, &integer));
        break;
    default:
        FIRE_TRY(read_integer(r, field, (uint64_t)INT32_MAX + 1, INT32_MAX, &integer));
    }
    *(uint32_t *)slot = (uint32_t)integer;
    return FIRE_OK;
}

static fire_status_t read_value(reader_t *r, frame_t *f, const fire_field_t *field)
{
    int64_t *cap = &f->cap[field - f->msg->descriptor->fields];
    void    *slot;

    FIRE_TRY(fire_message_slot(f->msg, field, cap, &slot));
    switch (field->type) {
    case PROTOBUF_C_TYPE_MESSAGE:
        return read_submessage(r, field, slot);
    case PROTOBUF_C_TYPE_STRING:
    case PROTOBUF_C_TYPE_BYTES:
        return read_text(r, field, slot);
    case PROTOBUF_C_TYPE_BOOL:
        return read_bool(r, field, slot);
    case PROTOBUF_C_TYPE_ENUM:
        return read_enum(r, field, slot);
    default:
        return read_number(r, field, slot);
    }
}

/* Behind "name:" or "name": one value, or a list of them in brackets. */
static fire_status_t read_values(reader_t *r, frame_t *f, const fire_field_t *field)
{
    bool more = false;

    if (field->label == PROTOBUF_C_LABEL_REPEATED) FIRE_TRY(accept(r, '[', &more));
    if (!more) return read_value(r, f, field);
    FIRE_TRY(accept(r, ']', &more)); /* [] is an empty list */
    if (more) return FIRE_OK;
    do {
        FIRE_TRY(read_value(r, f, field));
        FIRE_TRY(accept(r, ',', &more));
    } while (more);
    if (!fire_lexer_is(&r->lx, ']')) return fail_expected(r, field, "\",\" or \"]\"");
    return fire_lexer_next(&r->lx);
}

static fire_status_t find_field(reader_t *r, frame_t *f, const fire_field_t **field_p)
{
    const ProtobufCMessageDescriptor *desc = f->msg->descriptor;
    const fire_token_t               *t    = &r->lx.token;
    const fire_field_t               *field;
    char                              name[128];

    if (t->kind == FIRE_TOKEN_END)
        return FIRE_FAIL_AT(&r->lx,
                            "the file ends inside message \"%s\"; a } is missing",
                            desc->short_name);
    if (t->kind != FIRE_TOKEN_NAME)
        return FIRE_FAIL_AT(&r->lx,
                            "a field of message \"%s\" must stand here, not \"%.*s\"",
                            desc->short_name, FIRE_TOKEN_TEXT(&r->lx));
    snprintf(name, sizeof(name), "%.*s", t->n < 127 ? (int)t->n : 127, t->at);
    field = t->n < sizeof(name) ? fire_field_find(desc, name) : NULL;
    if (field == NULL) return fail_field(r, desc);
    if (field->label != PROTOBUF_C_LABEL_REPEATED && f->cap[field - desc->fields] > 0)
        return FIRE_FAIL_AT(&r->lx, "field \"%s\" is given twice in message \"%s\"",
                            field->name, desc->short_name);
    *field_p = field;
    return FIRE_OK;
}

static fire_status_t read_field(reader_t *r, frame_t *f)
{
    const fire_field_t *field = NULL;
    bool                colon, separator;

    FIRE_TRY(find_field(r, f, &field));
    FIRE_TRY(fire_lexer_next(&r->lx));
    FIRE_TRY(accept(r, ':', &colon));
    if (!colon && field->type != PROTOBUF_C_TYPE_MESSAGE)
        return fail_expected(r, field, "\":\" and a value");
    FIRE_TRY(read_values(r, f, field));
    if (field->label != PROTOBUF_C_LABEL_REPEATED)
        f->cap[field - f->msg->descriptor->fields] = 1;
    FIRE_TRY(accept(r, ',', &separator));
    return separator ? FIRE_OK : accept(r, ';', &separator);
}

static fire_status_t check_required(const reader_t *r, const frame_t *f)
{
    const ProtobufCMessageDescriptor *desc = f->msg->descriptor;

    for (unsigned i = 0; i < desc->n_fields; i++)
        if (desc->fields[i].label == PROTOBUF_C_LABEL_REQUIRED && f->cap[i] == 0)
            return FIRE_FAIL_AT(&r->lx,
                                "message \"%s\" lacks its required field \"%s\"",
                                desc->short_name, desc->fields[i].name);
    return FIRE_OK;
}

static bool at_closing(const reader_t *r, char closing)
{
    if (closing == '\0') return r->lx.token.kind == FIRE_TOKEN_END;
    return fire_lexer_is(&r->lx, closing);
}

/* Fields up to the closing bracket, which is left to be taken; 0: to the end. */
static fire_status_t read_message(reader_t *r, ProtobufCMessage *msg, char closing)
{
    frame_t       f = {msg, NULL};
    fire_status_t st;

    FIRE_TRY(FIRE_NEW(&f.cap, msg->descriptor->n_fields));
    do
        st = at_closing(r, closing) ? FIRE_IN_PROGRESS : read_field(r, &f);
    while (st == FIRE_OK);
    if (st == FIRE_IN_PROGRESS) st = check_required(r, &f);
    fire_free(f.cap);
    return st;
}

fire_status_t fire_text_parse(const char *text, size_t n, const char *file,
                              const ProtobufCMessageDescriptor *desc,
                              ProtobufCMessage                **msg_p)
{
    reader_t          r = {.depth = 0};
    ProtobufCMessage *msg;
    fire_status_t     st;

    FIRE_TRY(fire_lexer_init(&r.lx, file, text, n));
    FIRE_TRY(fire_message_create(desc, &msg));
    st = read_message(&r, msg, '\0');
    if (st == FIRE_OK)
        *msg_p = msg;
    else
        fire_message_free(msg);
    return st;
}
