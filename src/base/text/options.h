/* options.h - command-line flags from tables, in the syntax of gflags:
 *
 *   -flag value   --flag=value   --bool   --nobool   --list a --list b   --
 *   --nopath                 as if the flag --path had not been given
 *   --flagfile=FILE[,FILE]   flags from files, one --flag=value a line, # comments
 *   --fromenv=A[,B]          flag A from the variable FLAGS_A (--tryfromenv: if set)
 *
 * Flags and arguments may be mixed; - and _ in names are the same. */
#ifndef FIRE_BASE_TEXT_OPTIONS_H
#define FIRE_BASE_TEXT_OPTIONS_H
#include "base/text/text.h"

typedef enum fire_option_type {
    FIRE_OPTION_BOOL,   /* bool */
    FIRE_OPTION_INT,    /* int64_t */
    FIRE_OPTION_DOUBLE, /* double */
    FIRE_OPTION_STRING, /* const char *; NULL if the default is NULL */
    FIRE_OPTION_PATH,   /* const char *; "" is refused */
    FIRE_OPTION_LIST,   /* fire_option_list_t: each use of the flag appends one */
} fire_option_type_t;

typedef struct fire_option_list {
    const char **text;
    int64_t      n, cap;
} fire_option_list_t;

/* One flag. Its value is a member, at `offset`, of the struct that belongs to the
 * table; write rows with FIRE_OPTION(). A table ends with {0}. */
typedef struct fire_option {
    const char        *name;
    fire_option_type_t type;
    size_t             offset;
    const char        *preset; /* default, as a user would type it */
    const char        *arg;    /* name of the value in --help; NULL for a bool */
    const char        *help;   /* one sentence */
    const char        *words;  /* values to choose from, for completion; or NULL */
} fire_option_t;

#define FIRE_OPTION(struct_, member, type, preset, arg, help)                     \
    {                                                                             \
#        member, FIRE_OPTION_##type, offsetof(struct_, member), preset, arg, help \
    }

/* The same for a flag that takes one of a few words: "fp32 tf32". */
#define FIRE_OPTION_OF(struct_, member, type, preset, arg, words, help)            \
    {                                                                              \
#        member, FIRE_OPTION_##type, offsetof(struct_, member), preset, arg, help, \
            words                                                                  \
    }

/* A table and its values. A list of groups ends with one without options. */
typedef struct fire_option_group {
    const char          *title; /* in --help; NULL: not shown there */
    const fire_option_t *options;
    void                *values; /* the struct that the offsets belong to */
} fire_option_group_t;

typedef struct fire_options {
    const char **arg; /* [narg] arguments that are no flags, in order */
    int64_t      narg, arg_cap;
    char       **kept; /* [nkept] owned text that values point to */
    int64_t      nkept, kept_cap;
} fire_options_t;

/* Set all values to their defaults, then to those of the flags in argv[1] ... Values
 * and *out must be zeroed before. Strings are valid until fire_options_fini(), which
 * must be called after a failure too. */
fire_status_t fire_options_parse(const fire_option_group_t *groups, int argc,
                                 const char *const *argv, fire_options_t *out);
/* Free the strings, and the lists among the values. */
void fire_options_fini(const fire_option_group_t *groups, fire_options_t *options);

/* Append "--flag ARG   what it does (default: x)" for each flag, wrapped to 80
 * columns. */
fire_status_t fire_options_help(const fire_option_group_t *groups, fire_str_t *out);
#endif
