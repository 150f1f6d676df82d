/* text_reader.c - parses text format by recursive descent. Like protobuf's own parser,
 * it accepts a field that is not repeated only once. */
#include <stdio.h>
#include <string.h>
#include "base/alloc.h"
#include "base/log.h"
#include "model/forks/forks.h"
#include "model/lexer.h"
#include "model/text.h"
#include "model/values/field.h"
#include "model/text_scalar.h"
#include "model/values/values.h"

/* DEPTH_MAX: nested messages. KNOWN_MAX: bytes of a list of known names. */
enum { DEPTH_MAX = 100, KNOWN_MAX = 320 };

/* A message being parsed, on the stack of messages around it. */
typedef struct frame {
    ProtobufCMessage *msg; /* the message so far */
    /* per field: capacity of its array, or 1 once it was seen */
    int64_t            *cap;
    const struct frame *around; /* the message that contains it; NULL: none */
    /* Of a layer: a field that may be a plug-in's or a misspelt one of Caffe. Its type,
     * which may come later, tells. kind FIRE_TOKEN_END: none. */
    fire_token_t doubtful;
} frame_t;

/* The state of the parser. */
typedef struct reader {
    fire_lexer_t   lx;
    int            depth;   /* of nested messages */
    const frame_t *frame;   /* the innermost message */
    fire_str_t     skipped; /* fields of forks, for a warning */
} reader_t;

static fire_status_t read_message(reader_t *r, ProtobufCMessage *msg, char closing);

/* Name i, for fire_name_nearest() and fire_name_list(). */
static const char *field_name_at(const void *list, int i)
{
    const ProtobufCMessageDescriptor *desc = list;

    return (unsigned)i < desc->n_fields ? desc->fields[i].name : NULL;
}

/* The innermost message around this one that has such a field; NULL: none has. */
static const char *owner_around(const frame_t *f, const char *field)
{
    for (f = f->around; f != NULL; f = f->around)
        if (fire_field_find(f->msg->descriptor, field) != NULL)
            return f->msg->descriptor->short_name;
    return NULL;
}

/* Fail at an unknown field, the token of `lx`: a missing } before it, a misspelling, or
 * something else. */
static fire_status_t fail_field(const reader_t *r, const fire_lexer_t *lx)
{
    const ProtobufCMessageDescriptor *desc = r->frame->msg->descriptor;
    char                              word[64], known[KNOWN_MAX];
    const fire_fork_field_t          *fork;
    const char                       *near, *owner;

    snprintf(word, sizeof(word), "%.*s", FIRE_TOKEN_TEXT(lx));
    owner = owner_around(r->frame, word);
    if (owner != NULL)
        return FIRE_FAIL_AT(lx,
                            "message \"%s\" has no field \"%s\", the \"%s\" around it "
                            "has one; is a } missing before it?",
                            desc->short_name, word, owner);
    fork = fire_fork_field_find(desc, word);
    if (fork != NULL)
        return FIRE_FAIL_AT(lx,
                            "message \"%s\" has no field \"%s\" here: it is of another "
                            "Caffe (%s) and would change results",
                            desc->short_name, word, fork->fork);
    near = fire_name_nearest(word, field_name_at, desc);
    if (near != NULL)
        return FIRE_FAIL_AT(lx,
                            "message \"%s\" has no field \"%s\"; did you mean \"%s\"?",
                            desc->short_name, word, near);
    fire_name_list(field_name_at, desc, known, sizeof(known));
    return FIRE_FAIL_AT(lx, "message \"%s\" has no field \"%s\"; it has: %s",
                        desc->short_name, word, known);
}

/* { ... } or < ... > */
static fire_status_t read_submessage(reader_t *r, const fire_field_t *field, void *slot)
{
    ProtobufCMessage *sub;
    char              closing = '}';
    bool              open, angle = false;

    FIRE_TRY(fire_lexer_accept(&r->lx, '{', &open));
    if (!open) FIRE_TRY(fire_lexer_accept(&r->lx, '<', &angle));
    if (!open && !angle) return fire_text_fail_expected(&r->lx, field, "{ ... }");
    if (angle) closing = '>';
    if (r->depth == DEPTH_MAX)
        return FIRE_FAIL_AT(&r->lx, "more than %d messages inside one another",
                            DEPTH_MAX);
    FIRE_TRY(fire_message_create(field->descriptor, &sub));
    *(ProtobufCMessage **)slot = sub; /* from now on the parent owns it */
    r->depth++;
    FIRE_TRY(read_message(r, sub, closing));
    r->depth--;
    return fire_lexer_next(&r->lx);
}

/* One value of a field, in a new slot. */
static fire_status_t read_value(reader_t *r, frame_t *f, const fire_field_t *field)
{
    int64_t *cap = &f->cap[field - f->msg->descriptor->fields];
    void    *slot;

    FIRE_TRY(fire_message_slot(f->msg, field, cap, &slot));
    if (field->type == PROTOBUF_C_TYPE_MESSAGE) return read_submessage(r, field, slot);
    return fire_text_read_scalar(&r->lx, field, slot);
}

/* After "name:" or "name": one value, or for repeated fields also a list in
 * brackets. */
static fire_status_t read_values(reader_t *r, frame_t *f, const fire_field_t *field)
{
    bool more = false;

    if (field->label == PROTOBUF_C_LABEL_REPEATED)
        FIRE_TRY(fire_lexer_accept(&r->lx, '[', &more));
    if (!more) return read_value(r, f, field);
    FIRE_TRY(fire_lexer_accept(&r->lx, ']', &more)); /* [] is an empty list */
    if (more) return FIRE_OK;
    do {
        FIRE_TRY(read_value(r, f, field));
        FIRE_TRY(fire_lexer_accept(&r->lx, ',', &more));
    } while (more);
    if (!fire_lexer_is(&r->lx, ']'))
        return fire_text_fail_expected(&r->lx, field, "\",\" or \"]\"");
    return fire_lexer_next(&r->lx);
}

/* The current token, as the name of a field; false if it is too long for one. */
static bool field_name(const reader_t *r, char name[FIRE_VALUES_KEY])
{
    const fire_token_t *t = &r->lx.token;

    snprintf(name, FIRE_VALUES_KEY, "%.*s",
             t->n < FIRE_VALUES_KEY ? (int)t->n : FIRE_VALUES_KEY - 1, t->at);
    return t->n < FIRE_VALUES_KEY;
}

/* Does a field with settings of a plug-in begin here? */
static bool at_plugin(const reader_t *r, const frame_t *f)
{
    fire_lexer_t ahead = r->lx;
    char         name[FIRE_VALUES_KEY];
    bool         colon;

    return ahead.token.kind == FIRE_TOKEN_NAME && field_name(r, name) &&
           fire_plugin_field_is_possible(f->msg->descriptor, name) &&
           fire_field_find(f->msg->descriptor, name) == NULL &&
           fire_lexer_next(&ahead) >= 0 &&
           fire_lexer_accept(&ahead, ':', &colon) >= 0 &&
           (fire_lexer_is(&ahead, '{') || fire_lexer_is(&ahead, '<'));
}

static fire_status_t read_plugin(reader_t *r, frame_t *f)
{
    Caffe__LayerParameter *layer = (Caffe__LayerParameter *)f->msg;
    const fire_field_t    *list  = fire_field_find(f->msg->descriptor, "plugin");
    char                   name[FIRE_VALUES_KEY];
    bool                   separator;

    field_name(r, name);
    if (fire_plugin_field_is_doubtful(layer, name)) {
        if (layer->type != NULL || f->doubtful.kind != FIRE_TOKEN_END)
            return fail_field(r, &r->lx);
        f->doubtful = r->lx.token;
    }
    FIRE_TRY(fire_lexer_next(&r->lx));
    FIRE_TRY(fire_plugin_field_read(&r->lx, name, layer));
    f->cap[list - f->msg->descriptor->fields] = (int64_t)layer->n_plugin;
    FIRE_TRY(fire_lexer_accept(&r->lx, ',', &separator));
    return separator ? FIRE_OK : fire_lexer_accept(&r->lx, ';', &separator);
}

/* At the end of a layer, when its type is known. */
static fire_status_t settle_doubtful(const reader_t *r, const frame_t *f)
{
    fire_lexer_t at = r->lx;
    char         name[FIRE_VALUES_KEY];

    if (f->doubtful.kind == FIRE_TOKEN_END) return FIRE_OK;
    at.token = f->doubtful;
    snprintf(name, sizeof(name), "%.*s", (int)at.token.n, at.token.at);
    if (!fire_plugin_field_is_doubtful((const Caffe__LayerParameter *)f->msg, name))
        return FIRE_OK;
    return fail_field(r, &at);
}

/* Where a second value of a field goes that holds one only: its plural, as device_ids
 * for device_id, or NULL. */
static const fire_field_t *plural_of(const ProtobufCMessageDescriptor *desc,
                                     const fire_field_t               *field)
{
    char name[FIRE_VALUES_KEY + 1];

    snprintf(name, sizeof(name), "%ss", field->name);
    return fire_field_find(desc, name);
}

/* The field that the current token names. */
static fire_status_t find_field(reader_t *r, frame_t *f, const fire_field_t **field_p)
{
    const ProtobufCMessageDescriptor *desc = f->msg->descriptor;
    const fire_token_t               *t    = &r->lx.token;
    const fire_field_t               *field;
    char                              name[FIRE_VALUES_KEY];

    if (t->kind == FIRE_TOKEN_END)
        return FIRE_FAIL_AT(&r->lx,
                            "the file ends inside message \"%s\"; a } is missing",
                            desc->short_name);
    if (t->kind != FIRE_TOKEN_NAME)
        return FIRE_FAIL_AT(&r->lx,
                            "a field of message \"%s\" must stand here, not \"%.*s\"",
                            desc->short_name, FIRE_TOKEN_TEXT(&r->lx));
    field = field_name(r, name) ? fire_field_find(desc, name) : NULL;
    if (field == NULL) return fail_field(r, &r->lx);
    *field_p = field;
    if (field->label == PROTOBUF_C_LABEL_REPEATED || f->cap[field - desc->fields] == 0)
        return FIRE_OK;
    *field_p = plural_of(desc, field);
    if (*field_p != NULL && (*field_p)->label == PROTOBUF_C_LABEL_REPEATED &&
        (*field_p)->type == field->type)
        return FIRE_OK;
    return FIRE_FAIL_AT(&r->lx, "field \"%s\" is given twice in message \"%s\"",
                        field->name, desc->short_name);
}

/* The field of a fork that begins here and has no effect; NULL: another begins. */
static const fire_fork_field_t *field_to_skip(const reader_t *r, const frame_t *f)
{
    const ProtobufCMessageDescriptor *desc = f->msg->descriptor;
    const fire_fork_field_t          *fork;
    char                              name[FIRE_VALUES_KEY];

    if (r->lx.token.kind != FIRE_TOKEN_NAME || !field_name(r, name) ||
        fire_field_find(desc, name) != NULL)
        return NULL;
    fork = fire_fork_field_find(desc, name);
    return fork != NULL && fork->kind == FIRE_FORK_NO_EFFECT ? fork : NULL;
}

/* name: value, or name { ... }; a comma or semicolon may follow. */
static fire_status_t read_field(reader_t *r, frame_t *f)
{
    const fire_field_t      *field = NULL;
    const fire_fork_field_t *fork  = field_to_skip(r, f);
    bool                     colon, separator;

    if (fork != NULL) return fire_fork_field_skip(&r->lx, fork, &r->skipped);
    if (at_plugin(r, f)) return read_plugin(r, f);
    FIRE_TRY(find_field(r, f, &field));
    FIRE_TRY(fire_lexer_next(&r->lx));
    FIRE_TRY(fire_lexer_accept(&r->lx, ':', &colon));
    if (!colon && field->type != PROTOBUF_C_TYPE_MESSAGE)
        return fire_text_fail_expected(&r->lx, field, "\":\" and a value");
    FIRE_TRY(read_values(r, f, field));
    if (field->label != PROTOBUF_C_LABEL_REPEATED)
        f->cap[field - f->msg->descriptor->fields] = 1;
    FIRE_TRY(fire_lexer_accept(&r->lx, ',', &separator));
    return separator ? FIRE_OK : fire_lexer_accept(&r->lx, ';', &separator);
}

/* Were all required fields given? */
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

/* Is the current token the end of this message? */
static bool at_closing(const reader_t *r, char closing)
{
    if (closing == '\0') return r->lx.token.kind == FIRE_TOKEN_END;
    return fire_lexer_is(&r->lx, closing);
}

/* Read fields up to the closing bracket, which stays the current token; '\0': up to the
 * end of the text. */
static fire_status_t read_message(reader_t *r, ProtobufCMessage *msg, char closing)
{
    frame_t       f = {.msg = msg, .around = r->frame};
    fire_status_t st;

    FIRE_TRY(FIRE_NEW(&f.cap, msg->descriptor->n_fields));
    r->frame = &f;
    do
        st = at_closing(r, closing) ? FIRE_IN_PROGRESS : read_field(r, &f);
    while (st == FIRE_OK);
    if (st == FIRE_IN_PROGRESS) st = check_required(r, &f);
    if (st == FIRE_OK) st = settle_doubtful(r, &f);
    r->frame = f.around;
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
    if (st == FIRE_OK && r.skipped.n > 0)
        FIRE_LOG(WARNING, "%s: fields of other Caffes that have no effect here: %s",
                 file, r.skipped.text + 2);
    fire_str_fini(&r.skipped);
    if (st == FIRE_OK)
        *msg_p = msg;
    else
        fire_message_free(msg);
    return st;
}
