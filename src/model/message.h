/* message.h - work on any protobuf message through its descriptor: create, look
 * into, copy, merge, compare. Field by field, so that reader, writer and upgrades
 * need no code per message.
 *
 * Every message of the library, whether made here or unpacked from a file, is
 * ended with fire_message_free(). A cast to (ProtobufCMessage *) is right for
 * all of them; FIRE_MESSAGE() writes it. */
#ifndef FIRE_MODEL_MESSAGE_H
#define FIRE_MODEL_MESSAGE_H
#include <protobuf-c/protobuf-c.h>
#include "base/error.h"

#define FIRE_MESSAGE(m) ((ProtobufCMessage *)(m))

typedef ProtobufCFieldDescriptor fire_field_t;

/* A message with nothing set: fields read as their defaults. */
fire_status_t fire_message_create(const ProtobufCMessageDescriptor *desc,
                                  ProtobufCMessage                **msg_p);
void          fire_message_free(void *msg); /* any message; NULL is allowed */

/* Binary form. `what` (a file name) begins the error message. */
fire_status_t fire_message_unpack(const ProtobufCMessageDescriptor *desc,
                                  const void *bytes, size_t n, const char *what,
                                  ProtobufCMessage **msg_p);

/* Deep copy; add everything set in `from` to `into` as protobuf merges:
 * repeated fields are appended, messages merged, others replaced. */
fire_status_t fire_message_copy(const void *msg, ProtobufCMessage **copy_p);
fire_status_t fire_message_merge(const void *from, void *into);

/* Same fields set to the same values (a NaN equals a NaN). */
bool fire_message_equal(const void *a, const void *b);

/* Look at one field. find() gives NULL for a name that is none. count() is the
 * number of values: 0 or 1 unless repeated. at() is the address of value i, in
 * the type that the struct has it: float *, char **, ProtobufCMessage **... */
const fire_field_t *fire_field_find(const ProtobufCMessageDescriptor *desc,
                                    const char                       *name);
bool                fire_message_has(const void *msg, const fire_field_t *field);
size_t              fire_message_count(const void *msg, const fire_field_t *field);
void  *fire_message_at(const void *msg, const fire_field_t *field, size_t i);
size_t fire_field_size(const fire_field_t *field); /* of one value, in bytes */

/* Set a field, or append to a repeated one, with a deep copy of *value. */
fire_status_t fire_message_put(void *msg, const fire_field_t *field, const void *value);
void          fire_message_clear(void *msg, const fire_field_t *field);

/* Hand the values of a field over to a field of the same kind, without a copy. */
bool fire_field_same_kind(const fire_field_t *a, const fire_field_t *b);
void fire_message_move(void *from, const fire_field_t *field, void *to,
                       const fire_field_t *to_field);

/* The same by name, for code that knows the message. add_message() appends to a
 * repeated field or gives the one that is there already (sub_p: Caffe__X **). */
fire_status_t fire_message_add_message(void *msg, const char *field, void *sub_p);
fire_status_t fire_message_add_string(void *msg, const char *field, const char *text);
void          fire_message_clear_field(void *msg, const char *field);

/* For the text reader: a fresh zeroed slot at the end of a repeated field, whose
 * array holds *cap values; or a singular field's own slot, marked as set. */
fire_status_t fire_message_slot(void *msg, const fire_field_t *field, int64_t *cap,
                                void **slot_p);
#endif
