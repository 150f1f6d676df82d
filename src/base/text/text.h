/* text.h - strings that grow, numbers as text and back, the nearest name to a misspelt
 * word. */
#ifndef FIRE_BASE_TEXT_TEXT_H
#define FIRE_BASE_TEXT_TEXT_H
#include "base/error.h"

/* A string that grows; {0} is an empty one. `text` is NULL until something was added,
 * and ends with a zero byte, which n does not count. */
typedef struct fire_str {
    char   *text;
    int64_t n, cap;
} fire_str_t;

fire_status_t fire_str_add(fire_str_t *s, const void *bytes, size_t n);
fire_status_t fire_str_printf(fire_str_t *s, const char *format, ...) FIRE_PRINTF(2, 3);
fire_status_t fire_str_add_utf8(fire_str_t *s, uint32_t code); /* code point */
void          fire_str_fini(fire_str_t *s);

/* Move the text to *text_p, which the caller frees with fire_free(), and empty s. The
 * text of an empty string is "". */
fire_status_t fire_str_take(fire_str_t *s, char **text_p);

/* Replace what could control a terminal by '?', in place: escape sequences begin with
 * one of these characters. Line breaks and tabs stay, UTF-8 too. Returns the text. */
char *fire_text_make_plain(char *text);

int fire_hex_value(char digit); /* -1: no hex digit */

/* Numbers in C's notation, whatever the program's locale is. parse() must consume all
 * of text[n] to succeed; print() writes the shortest decimal that is read back as the
 * same value. */
bool fire_number_parse(const char *text, size_t n, double *value_p);
enum { FIRE_NUMBER_MAX = 32 };
void fire_number_print(double value, char out[FIRE_NUMBER_MAX]);
void fire_number_print_float(float value, char out[FIRE_NUMBER_MAX]);
/* As printf's %.*g: this many significant digits at most. */
void fire_number_print_rounded(double value, int digits, char out[FIRE_NUMBER_MAX]);

/* Returns the i-th of a list of names; NULL past the end. */
typedef const char *(*fire_name_at_t)(const void *list, int i);

/* The name with the least edit distance to a misspelt word; NULL if none is near. */
const char *fire_name_nearest(const char *word, fire_name_at_t name_at,
                              const void *list);
/* Write "a, b, c" for a message, with "..." at the end if `size` bytes are too few. */
void fire_name_list(fire_name_at_t name_at, const void *list, char *out, size_t size);
#endif
