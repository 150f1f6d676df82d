/* message.c - generic work on protobuf messages, with the offsets in their descriptors.
 *
 * A generated struct has one member per field at field->offset: a value, or an array
 * for a repeated field. At field->quantifier_offset is the length of the array
 * (repeated) or the flag has_x (optional numbers). */
#include "model/message.h"

#include <string.h>
#include "base/alloc.h"

/* The allocator for protobuf-c. It frees messages with free(), which fits memory of
 * fire_alloc(): messages may be built with one and freed with the other. `failed` is a
 * bool that tells an out-of-memory from damaged bytes. */
static void *allocate(void *failed, size_t size)
{
    void *ptr = NULL;

    if (fire_alloc(size, 1, "message", &ptr) < 0) *(bool *)failed = true;
    return ptr;
}

static void release(void *failed, void *ptr)
{
    (void)failed;
    fire_free(ptr);
}

fire_status_t fire_message_create(const ProtobufCMessageDescriptor *desc,
                                  ProtobufCMessage                **msg_p)
{
    ProtobufCMessage *msg;

    FIRE_TRY(fire_alloc(1, desc->sizeof_message, desc->name, (void **)&msg));
    protobuf_c_message_init(desc, msg);
    *msg_p = msg;
    return FIRE_OK;
}

void fire_message_free(void *msg)
{
    protobuf_c_message_free_unpacked(msg, NULL);
}

/* protobuf-c returns NULL for damaged bytes and for lack of memory alike; `failed`
 * tells which. */
fire_status_t fire_message_unpack(const ProtobufCMessageDescriptor *desc,
                                  const void *bytes, size_t n, const char *what,
                                  ProtobufCMessage **msg_p)
{
    bool               failed    = false;
    ProtobufCAllocator allocator = {allocate, release, &failed};
    ProtobufCMessage  *msg = protobuf_c_message_unpack(desc, &allocator, n, bytes);

    if (failed) {
        fire_message_free(msg);
        return FIRE_FAIL(FIRE_ERR_NOMEM, "%s: out of memory for a %s of %zu bytes",
                         what, desc->name, n);
    }
    if (msg == NULL)
        return FIRE_FAIL(FIRE_ERR_PARSE,
                         "%s: not a %s in binary form, or damaged (%zu bytes); is the "
                         "file complete?",
                         what, desc->short_name, n);
    *msg_p = msg;
    return FIRE_OK;
}

const fire_field_t *fire_field_find(const ProtobufCMessageDescriptor *desc,
                                    const char                       *name)
{
    return protobuf_c_message_descriptor_get_field_by_name(desc, name);
}

size_t fire_field_size(const fire_field_t *field)
{
    switch (field->type) {
    case PROTOBUF_C_TYPE_INT64:
    case PROTOBUF_C_TYPE_SINT64:
    case PROTOBUF_C_TYPE_SFIXED64:
    case PROTOBUF_C_TYPE_UINT64:
    case PROTOBUF_C_TYPE_FIXED64:
    case PROTOBUF_C_TYPE_DOUBLE:
        return 8;
    case PROTOBUF_C_TYPE_STRING:
        return sizeof(char *);
    case PROTOBUF_C_TYPE_BYTES:
        return sizeof(ProtobufCBinaryData);
    case PROTOBUF_C_TYPE_MESSAGE:
        return sizeof(ProtobufCMessage *);
    default:
        return 4; /* 32-bit numbers, bool and enum */
    }
}

/* Address of a field's value or array. */
static void *member(const void *msg, const fire_field_t *field)
{
    return (char *)msg + field->offset;
}

/* Address of the size_t length of a repeated field, or of an optional one's flag. */
static void *quantifier(const void *msg, const fire_field_t *field)
{
    return (char *)msg + field->quantifier_offset;
}

static bool is_repeated(const fire_field_t *field)
{
    return field->label == PROTOBUF_C_LABEL_REPEATED;
}

/* Strings and messages have no flag: they are set unless the pointer is NULL or the
 * default, a static text. */
static bool is_pointer(const fire_field_t *field)
{
    return field->type == PROTOBUF_C_TYPE_STRING ||
           field->type == PROTOBUF_C_TYPE_MESSAGE;
}

/* Required numbers have no flag and count as set. */
bool fire_message_has(const void *msg, const fire_field_t *field)
{
    if (is_repeated(field)) return *(size_t *)quantifier(msg, field) > 0;
    if (is_pointer(field)) {
        const void *ptr = *(void **)member(msg, field);

        return ptr != NULL && ptr != field->default_value;
    }
    if (field->label == PROTOBUF_C_LABEL_REQUIRED) return true;
    return *(protobuf_c_boolean *)quantifier(msg, field) != 0;
}

size_t fire_message_count(const void *msg, const fire_field_t *field)
{
    if (is_repeated(field)) return *(size_t *)quantifier(msg, field);
    return fire_message_has(msg, field);
}

void *fire_message_at(const void *msg, const fire_field_t *field, size_t i)
{
    if (!is_repeated(field)) return member(msg, field);
    return *(char **)member(msg, field) + i * fire_field_size(field);
}

/* Grows the array by doubling; *cap is kept by the caller, because a message has no
 * place for it. */
fire_status_t fire_message_slot(void *msg, const fire_field_t *field, int64_t *cap,
                                void **slot_p)
{
    size_t *n;

    if (!is_repeated(field)) {
        if (!is_pointer(field) && field->label == PROTOBUF_C_LABEL_OPTIONAL)
            *(protobuf_c_boolean *)quantifier(msg, field) = 1;
        *slot_p = member(msg, field);
        return FIRE_OK;
    }
    n = quantifier(msg, field);
    FIRE_TRY(
        fire_grow(member(msg, field), cap, (int64_t)*n + 1, fire_field_size(field)));
    *slot_p = fire_message_at(msg, field, (*n)++);
    return FIRE_OK;
}

static fire_status_t copy_bytes(const ProtobufCBinaryData *from,
                                ProtobufCBinaryData       *to)
{
    uint8_t *data;

    FIRE_TRY(fire_alloc(from->len, 1, "bytes", (void **)&data));
    if (from->len > 0) memcpy(data, from->data, from->len);
    *to = (ProtobufCBinaryData){from->len, data};
    return FIRE_OK;
}

/* Deep copy of one value. What `to` holds before is not freed. */
static fire_status_t copy_value(const fire_field_t *field, const void *from, void *to)
{
    switch (field->type) {
    case PROTOBUF_C_TYPE_STRING:
        return fire_strdup(*(char *const *)from, to);
    case PROTOBUF_C_TYPE_BYTES:
        return copy_bytes(from, to);
    case PROTOBUF_C_TYPE_MESSAGE:
        return fire_message_copy(*(ProtobufCMessage *const *)from, to);
    default:
        memcpy(to, from, fire_field_size(field));
        return FIRE_OK;
    }
}

/* Free what a value points to. */
static void free_value(const fire_field_t *field, void *value)
{
    if (field->type == PROTOBUF_C_TYPE_STRING) fire_free(*(char **)value);
    if (field->type == PROTOBUF_C_TYPE_BYTES)
        fire_free(((ProtobufCBinaryData *)value)->data);
    if (field->type == PROTOBUF_C_TYPE_MESSAGE)
        fire_message_free(*(ProtobufCMessage **)value);
}

/* Make a field as it is in an empty message; its value is not freed. */
static void reset_field(void *msg, const fire_field_t *field)
{
    void *value = member(msg, field);

    if (is_repeated(field)) {
        *(void **)value                   = NULL;
        *(size_t *)quantifier(msg, field) = 0;
    } else if (field->type == PROTOBUF_C_TYPE_STRING) {
        *(const void **)value = field->default_value;
    } else if (field->type == PROTOBUF_C_TYPE_MESSAGE) {
        *(void **)value = NULL;
    } else {
        memset(value, 0, fire_field_size(field));
        if (field->default_value != NULL)
            memcpy(value, field->default_value, fire_field_size(field));
        if (field->label == PROTOBUF_C_LABEL_OPTIONAL)
            *(protobuf_c_boolean *)quantifier(msg, field) = 0;
    }
}

/* Free all values, and the array of a repeated field. */
void fire_message_clear(void *msg, const fire_field_t *field)
{
    size_t n = fire_message_count(msg, field);

    for (size_t i = 0; i < n; i++)
        free_value(field, fire_message_at(msg, field, i));
    if (is_repeated(field)) fire_free(*(void **)member(msg, field));
    reset_field(msg, field);
}

/* descriptor: the same message or enum type, too. */
bool fire_field_same_kind(const fire_field_t *a, const fire_field_t *b)
{
    return a->type == b->type && a->label == b->label && a->descriptor == b->descriptor;
}

/* Copies the pointers, then resets the source, so that values have one owner. */
void fire_message_move(void *from, const fire_field_t *field, void *to,
                       const fire_field_t *to_field)
{
    bool repeated = is_repeated(field);

    fire_message_clear(to, to_field);
    if (!fire_message_has(from, field)) return;
    memcpy(member(to, to_field), member(from, field),
           repeated ? sizeof(void *) : fire_field_size(field));
    if (repeated)
        *(size_t *)quantifier(to, to_field) = *(size_t *)quantifier(from, field);
    else if (!is_pointer(field) && field->label == PROTOBUF_C_LABEL_OPTIONAL)
        *(protobuf_c_boolean *)quantifier(to, to_field) = 1;
    reset_field(from, field);
}

fire_status_t fire_message_put(void *msg, const fire_field_t *field, const void *value)
{
    union {
        double              number;
        void               *ptr;
        ProtobufCBinaryData bytes;
    } copy            = {0}; /* copied first: a failure leaves the message as it was */
    int64_t       cap = (int64_t)fire_message_count(msg, field);
    void         *slot;
    fire_status_t st;

    FIRE_TRY(copy_value(field, value, &copy));
    if (!is_repeated(field)) fire_message_clear(msg, field);
    st = fire_message_slot(msg, field, &cap, &slot);
    if (st == FIRE_OK)
        memcpy(slot, &copy, fire_field_size(field));
    else
        free_value(field, &copy);
    return st;
}

/* Merge one field. The length of a repeated field grows element by element, so that
 * after a failure the message can still be freed. */
static fire_status_t merge_field(const void *from, void *into,
                                 const fire_field_t *field)
{
    size_t  n = fire_message_count(from, field), old;
    int64_t cap;
    void   *slot;

    if (n == 0) return FIRE_OK;
    if (!is_repeated(field)) {
        void *value = member(from, field);

        if (field->type == PROTOBUF_C_TYPE_MESSAGE && fire_message_has(into, field))
            return fire_message_merge(*(void **)value, *(void **)member(into, field));
        return fire_message_put(into, field, value);
    }
    old = fire_message_count(into, field);
    cap = (int64_t)old;
    FIRE_TRY(fire_grow(member(into, field), &cap, (int64_t)(old + n),
                       fire_field_size(field)));
    for (size_t i = 0; i < n; i++) {
        slot = fire_message_at(into, field, old + i);
        FIRE_TRY(copy_value(field, fire_message_at(from, field, i), slot));
        *(size_t *)quantifier(into, field) += 1;
    }
    return FIRE_OK;
}

/* Copy fields that our schema does not know (of a newer or another Caffe), so that they
 * survive reading and writing. */
static fire_status_t merge_unknown(const ProtobufCMessage *from, ProtobufCMessage *into)
{
    int64_t cap = into->n_unknown_fields;

    FIRE_TRY(fire_grow(&into->unknown_fields, &cap, cap + from->n_unknown_fields,
                       sizeof(*into->unknown_fields)));
    for (unsigned i = 0; i < from->n_unknown_fields; i++) {
        ProtobufCMessageUnknownField *to =
            &into->unknown_fields[into->n_unknown_fields];
        const ProtobufCMessageUnknownField *f = &from->unknown_fields[i];

        FIRE_TRY(fire_alloc(f->len, 1, "unknown field", (void **)&to->data));
        memcpy(to->data, f->data, f->len);
        to->tag       = f->tag;
        to->wire_type = f->wire_type;
        to->len       = f->len;
        into->n_unknown_fields++;
    }
    return FIRE_OK;
}

fire_status_t fire_message_merge(const void *from, void *into)
{
    const ProtobufCMessageDescriptor *desc = FIRE_MESSAGE(from)->descriptor;

    for (unsigned i = 0; i < desc->n_fields; i++)
        FIRE_TRY(merge_field(from, into, &desc->fields[i]));
    return merge_unknown(from, into);
}

fire_status_t fire_message_copy(const void *msg, ProtobufCMessage **copy_p)
{
    ProtobufCMessage *copy;
    fire_status_t     st;

    FIRE_TRY(fire_message_create(FIRE_MESSAGE(msg)->descriptor, &copy));
    st = fire_message_merge(msg, copy);
    if (st == FIRE_OK)
        *copy_p = copy;
    else
        fire_message_free(copy);
    return st;
}

static bool equal_bytes(const ProtobufCBinaryData *a, const ProtobufCBinaryData *b)
{
    return a->len == b->len && (a->len == 0 || memcmp(a->data, b->data, a->len) == 0);
}

/* Numbers are equal if their bits are (so 0 and -0 differ); any NaN equals any
 * other. */
static bool equal_value(const fire_field_t *field, const void *a, const void *b)
{
    switch (field->type) {
    case PROTOBUF_C_TYPE_FLOAT: {
        float x = *(const float *)a, y = *(const float *)b;

        return x == y ? memcmp(a, b, 4) == 0 : x != x && y != y;
    }
    case PROTOBUF_C_TYPE_DOUBLE: {
        double x = *(const double *)a, y = *(const double *)b;

        return x == y ? memcmp(a, b, 8) == 0 : x != x && y != y;
    }
    case PROTOBUF_C_TYPE_STRING:
        return strcmp(*(char *const *)a, *(char *const *)b) == 0;
    case PROTOBUF_C_TYPE_BYTES:
        return equal_bytes(a, b);
    case PROTOBUF_C_TYPE_MESSAGE:
        return fire_message_equal(*(void *const *)a, *(void *const *)b);
    default:
        return memcmp(a, b, fire_field_size(field)) == 0;
    }
}

bool fire_message_equal(const void *a, const void *b)
{
    const ProtobufCMessageDescriptor *desc = FIRE_MESSAGE(a)->descriptor;

    if (desc != FIRE_MESSAGE(b)->descriptor) return false;
    for (unsigned f = 0; f < desc->n_fields; f++) {
        const fire_field_t *field = &desc->fields[f];
        size_t              n     = fire_message_count(a, field);

        if (n != fire_message_count(b, field)) return false;
        for (size_t i = 0; i < n; i++)
            if (!equal_value(field, fire_message_at(a, field, i),
                             fire_message_at(b, field, i)))
                return false;
    }
    return true;
}
