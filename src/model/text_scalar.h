/* text_scalar.h - the text reader's functions for numbers, booleans, enums and
 * texts. */
#ifndef FIRE_MODEL_TEXT_SCALAR_H
#define FIRE_MODEL_TEXT_SCALAR_H
#include "model/lexer.h"
#include "model/message.h"

/* Parse the value at the current token into a field's slot (fire_message_slot). */
fire_status_t fire_text_read_scalar(fire_lexer_t *lx, const fire_field_t *field,
                                    void *slot);

/* Fail with: field "NAME" needs WHAT, not "TOKEN". */
fire_status_t fire_text_fail_expected(const fire_lexer_t *lx, const fire_field_t *field,
                                      const char *what);
#endif
