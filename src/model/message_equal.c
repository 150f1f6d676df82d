/* message_equal.c - compares two messages field by field, in the order of the
 * descriptor. */
#include <string.h>
#include "model/message.h"

/* data may be NULL if the length is 0. */
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
