/* completion.h - scripts by which bash, zsh and fish complete the program's command
 * line, from the tables that --help prints. */
#ifndef FIRE_TOOLS_VIEW_COMPLETION_H
#define FIRE_TOOLS_VIEW_COMPLETION_H
#include "command.h"

/* Append the script of one shell. */
fire_status_t completion_bash(fire_str_t *out);
fire_status_t completion_zsh(fire_str_t *out);
fire_status_t completion_fish(fire_str_t *out);

/* ---- for these three ---- */

typedef enum completion_value {
    COMPLETE_NOTHING,   /* a bool, which has no value */
    COMPLETE_TEXT,      /* a number or a word: no suggestions */
    COMPLETE_FILE,      /* FILE or FILES */
    COMPLETE_DIRECTORY, /* DIR */
    COMPLETE_WORDS,     /* one of the option's words */
} completion_value_t;

completion_value_t completion_value(const fire_option_t *o);

/* Find the next file name extension in a help text, such as ".prototxt", and move *help
 * behind it; false: there is no more. */
enum { EXTENSION_MAX = 32 };
bool completion_extension(const char **help, char extension[EXTENSION_MAX]);

/* Length of a command's first word. */
size_t completion_first_word(const command_t *c);
/* Has the command two words, as "convert mnist"? */
bool completion_has_family(const command_t *c);
/* Do two commands begin with the same word? */
bool completion_same_family(const command_t *a, const command_t *b);
/* Is the i-th command the first one that begins with its first word? */
bool completion_is_first(int i);

/* Append text for use between single quotes, with \ before each character of `special`.
 * If ' is not one of them, it is written as in a POSIX shell: '\''. */
fire_status_t completion_escape(fire_str_t *out, const char *text, const char *special);
#endif
