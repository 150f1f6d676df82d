/* text_scalar.h - the text reader's part for values that are no messages. */
#ifndef FIRE_MODEL_TEXT_SCALAR_H
#define FIRE_MODEL_TEXT_SCALAR_H
#include "model/lexer.h"
#include "model/message.h"

/* Read the value at the present token into a field's slot. */
fire_status_t fire_text_read_scalar(fire_lexer_t *lx, const fire_field_t *field,
                                    void *slot);

/* Fail with: field "x" needs <what>, not "...". */
fire_status_t fire_text_fail_expected(const fire_lexer_t *lx, const fire_field_t *field,
                                      const char *what);
#endif
