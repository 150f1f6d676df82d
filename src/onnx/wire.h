/* wire.h - protobuf's binary form, field by field, for messages too large to be taken
 * apart as a whole. */
#ifndef FIRE_ONNX_WIRE_H
#define FIRE_ONNX_WIRE_H
#include "base/text/text.h"

/* Kinds of fields, as numbered in the file. */
enum { FIRE_WIRE_VARINT = 0, FIRE_WIRE_64 = 1, FIRE_WIRE_BYTES = 2, FIRE_WIRE_32 = 5 };

/* What is left of a message. */
typedef struct fire_wire {
    const uint8_t *at, *end;
} fire_wire_t;

/* One field: a number, or n bytes at `bytes`. */
typedef struct fire_wire_field {
    uint32_t       number;
    int            kind;
    uint64_t       value;
    const uint8_t *bytes;
    size_t         n;
} fire_wire_field_t;

/* Read the next field; *more_p is false at the end. Fails where the message is cut off
 * or is none. */
fire_status_t fire_wire_next(fire_wire_t *w, fire_wire_field_t *f, bool *more_p);
/* Read a number without its field, of a packed list. */
fire_status_t fire_wire_varint(fire_wire_t *w, uint64_t *value_p);

/* Append a field's head: for FIRE_WIRE_BYTES, `value` is the number of bytes that
 * follow; for FIRE_WIRE_VARINT it is the value. */
fire_status_t fire_wire_put(fire_str_t *out, uint32_t number, int kind, uint64_t value);
size_t fire_wire_size(uint32_t number, uint64_t value); /* bytes that it appends */
#endif
