/* message_by_name.c - sets fields of messages by their names, for code that knows which
 * message it has. */
#include <string.h>
#include "model/message.h"

/* A field by name; an error is a mistake in our code or in a table of upgrades. */
static fire_status_t find_or_fail(const void *msg, const char *name,
                                  const fire_field_t **field_p)
{
    const ProtobufCMessageDescriptor *desc = FIRE_MESSAGE(msg)->descriptor;

    *field_p = fire_field_find(desc, name);
    if (*field_p == NULL)
        return FIRE_FAIL(FIRE_ERR_INVALID, "message \"%s\" has no field \"%s\"",
                         desc->short_name, name);
    return FIRE_OK;
}

fire_status_t fire_message_add_message(void *msg, const char *field_name, void *sub_p)
{
    const fire_field_t *field;
    ProtobufCMessage   *sub;
    void               *slot;
    int64_t             cap;
    fire_status_t       st;

    FIRE_TRY(find_or_fail(msg, field_name, &field));
    if (field->label != PROTOBUF_C_LABEL_REPEATED && fire_message_has(msg, field)) {
        memcpy(sub_p, fire_message_at(msg, field, 0), sizeof(void *));
        return FIRE_OK;
    }
    FIRE_TRY(fire_message_create(field->descriptor, &sub));
    cap = (int64_t)fire_message_count(msg, field);
    st  = fire_message_slot(msg, field, &cap, &slot);
    if (st < 0) {
        fire_message_free(sub);
        return st;
    }
    memcpy(slot, &sub, sizeof(sub));
    memcpy(sub_p, &sub, sizeof(sub));
    return FIRE_OK;
}

fire_status_t fire_message_add_string(void *msg, const char *field_name,
                                      const char *text)
{
    const fire_field_t *field;

    FIRE_TRY(find_or_fail(msg, field_name, &field));
    return fire_message_put(msg, field, &text);
}

void fire_message_clear_field(void *msg, const char *field_name)
{
    const fire_field_t *field =
        fire_field_find(FIRE_MESSAGE(msg)->descriptor, field_name);

    if (field != NULL) fire_message_clear(msg, field);
}
