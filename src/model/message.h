/* message.h - works on any protobuf message through its descriptor: create, look up
 * fields, copy, merge, compare. The text reader, the writer and the upgrades go field
 * by field and need no code per message.
 *
 * Every message of this library, whether made here or unpacked from a file, is ended
 * with fire_message_free(). Arguments of type void * are messages of any type: a
 * generated struct begins with a ProtobufCMessage, so the cast FIRE_MESSAGE() is right
 * for all of them. */
#ifndef FIRE_MODEL_MESSAGE_H
#define FIRE_MODEL_MESSAGE_H
#include <protobuf-c/protobuf-c.h>
#include "base/error.h"

#define FIRE_MESSAGE(m) ((ProtobufCMessage *)(m))

typedef ProtobufCFieldDescriptor fire_field_t;

/* Make an empty message: its fields have their default values. */
fire_status_t fire_message_create(const ProtobufCMessageDescriptor *desc,
                                  ProtobufCMessage                **msg_p);
void          fire_message_free(void *msg); /* with all it contains; NULL is allowed */

/* Parse n bytes of binary form. `what` (a file name) begins the error message. */
fire_status_t fire_message_unpack(const ProtobufCMessageDescriptor *desc,
                                  const void *bytes, size_t n, const char *what,
                                  ProtobufCMessage **msg_p);

/* copy() makes a deep copy. merge() adds everything that is set in `from` to `into`, as
 * protobuf merges: repeated fields are appended, messages merged, other values
 * replaced. */
fire_status_t fire_message_copy(const void *msg, ProtobufCMessage **copy_p);
fire_status_t fire_message_merge(const void *from, void *into);

/* Are the same fields set to the same values? (A NaN equals a NaN.) */
bool fire_message_equal(const void *a, const void *b);

/* Look at one field. fire_field_find() returns NULL if the message has no field of that
 * name. fire_message_count() is the number of values: 0 or 1 unless the field is
 * repeated. fire_message_at() is the address of value i, of the type that the generated
 * struct has: float *, char **, ProtobufCMessage **, ... */
const fire_field_t *fire_field_find(const ProtobufCMessageDescriptor *desc,
                                    const char                       *name);
bool                fire_message_has(const void *msg, const fire_field_t *field);
size_t              fire_message_count(const void *msg, const fire_field_t *field);
void  *fire_message_at(const void *msg, const fire_field_t *field, size_t i);
size_t fire_field_size(const fire_field_t *field); /* bytes of one value */

/* Set a field, or append to a repeated one, with a deep copy of *value. On failure the
 * message is unchanged. */
fire_status_t fire_message_put(void *msg, const fire_field_t *field, const void *value);
/* Unset a field and free its values. */
void fire_message_clear(void *msg, const fire_field_t *field);

/* Move the values of a field to a field of the same kind in another message, without
 * copying. The first one is unset then. */
bool fire_field_same_kind(const fire_field_t *a, const fire_field_t *b);
void fire_message_move(void *from, const fire_field_t *field, void *to,
                       const fire_field_t *to_field);

/* The same by field name, for code that knows the message. fire_message_add_message()
 * appends an empty message to a repeated field, or creates that of a singular one
 * unless it is set; *sub_p (a Caffe__X **) is it, owned by msg. */
fire_status_t fire_message_add_message(void *msg, const char *field, void *sub_p);
fire_status_t fire_message_add_string(void *msg, const char *field, const char *text);
void          fire_message_clear_field(void *msg, const char *field);

/* For the text reader: room for one more value. *slot_p is a zeroed element at the end
 * of a repeated field (whose array has *cap elements allocated), or a singular field's
 * own place, which counts as set from now on. */
fire_status_t fire_message_slot(void *msg, const fire_field_t *field, int64_t *cap,
                                void **slot_p);
#endif
