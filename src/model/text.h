/* text.h - reads and writes protobuf's text format, the language of .prototxt files,
 * for any message by its descriptor. */
#ifndef FIRE_MODEL_TEXT_H
#define FIRE_MODEL_TEXT_H
#include "base/text/text.h"
#include "model/message.h"

/* Parse n characters of text into a new message. Errors are "FILE:LINE:COLUMN: ..." and
 * suggest the nearest known name for a misspelt one. End *msg_p with
 * fire_message_free(). */
fire_status_t fire_text_parse(const char *text, size_t n, const char *file,
                              const ProtobufCMessageDescriptor *desc,
                              ProtobufCMessage                **msg_p);

/* Append all set fields of a message as text, indented by two spaces per level, in the
 * order of field numbers. Parsing the text gives an equal message. */
fire_status_t fire_text_print(const void *msg, fire_str_t *out);
/* Append n bytes in quotes; those that are not printable ASCII as escapes. */
fire_status_t fire_text_print_quoted(const void *bytes, size_t n, fire_str_t *out);
#endif
