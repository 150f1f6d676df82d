/* text.h - protobuf's text format, the language of .prototxt files, for every
 * message by way of its descriptor. */
#ifndef FIRE_MODEL_TEXT_H
#define FIRE_MODEL_TEXT_H
#include "base/text/text.h"
#include "model/message.h"

/* Read one message. Errors read "file:line:col: ..." and tell the nearest known
 * name where one is misspelt. End *msg_p with fire_message_free(). */
fire_status_t fire_text_parse(const char *text, size_t n, const char *file,
                              const ProtobufCMessageDescriptor *desc,
                              ProtobufCMessage                **msg_p);

/* Append what is set in the message, two spaces per level, fields in the order
 * of their numbers. Parsing it gives an equal message. */
fire_status_t fire_text_print(const void *msg, fire_str_t *out);
#endif
