/* text.h - text that grows, numbers that round-trip, names that are nearly right. */
#ifndef FIRE_BASE_TEXT_TEXT_H
#define FIRE_BASE_TEXT_TEXT_H
#include "base/error.h"

/* A growing string. All zero is an empty one; `text` ends with a zero byte as
 * soon as anything was added, and is NULL before. */
typedef struct fire_str {
    char   *text;
    int64_t n, cap;
} fire_str_t;

fire_status_t fire_str_add(fire_str_t *s, const void *bytes, size_t n);
fire_status_t fire_str_printf(fire_str_t *s, const char *format, ...) FIRE_PRINTF(2, 3);
fire_status_t fire_str_add_utf8(fire_str_t *s, uint32_t code); /* a character */
void          fire_str_fini(fire_str_t *s);

/* Hand the text over to the caller, who ends it with fire_free(); s is empty
 * again. An empty string gives "". */
fire_status_t fire_str_take(fire_str_t *s, char **text_p);

int fire_hex_value(char digit); /* -1: none */

/* Numbers as C writes them, whatever the locale of the program. Parsing wants
 * the whole of [text, text + n); printing gives the shortest decimal that is
 * read back as the same value. */
bool fire_number_parse(const char *text, size_t n, double *value_p);
enum { FIRE_NUMBER_MAX = 32 };
void fire_number_print(double value, char out[FIRE_NUMBER_MAX]);
void fire_number_print_float(float value, char out[FIRE_NUMBER_MAX]);
/* As printf's %.*g: this many significant digits at most. */
void fire_number_print_rounded(double value, int digits, char out[FIRE_NUMBER_MAX]);

/* The i-th of a list of names, NULL behind the last one. */
typedef const char *(*fire_name_at_t)(const void *list, int i);

/* The name that a misspelt word most probably meant; NULL if none is near. */
const char *fire_name_nearest(const char *word, fire_name_at_t name_at,
                              const void *list);
/* "a, b, c" for a message, with "..." at the end if `size` bytes do not hold all. */
void fire_name_list(fire_name_at_t name_at, const void *list, char *out, size_t size);
#endif
