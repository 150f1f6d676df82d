/* code.h - what C and CUDA sources define and declare at file level.
 *
 * A reader of our own style, not of all of C: an item begins in the first column; comments,
 * texts and preprocessor lines are blanked before. */
#ifndef FIRE_TESTS_ARCH_CODE_H
#define FIRE_TESTS_ARCH_CODE_H
#include <stdbool.h>

typedef enum code_kind {
    CODE_FUNCTION,  /* a definition; inline functions in headers too */
    CODE_PROTOTYPE, /* a function declared, not defined */
    CODE_MACRO, /* a call of a macro without a semicolon: it may define its arguments */
    CODE_TYPE,  /* a typedef, or a struct, union or enum with its body */
    CODE_VARIABLE, /* a variable with a value */
    CODE_OTHER,    /* a forward declaration, a variable without a value */
} code_kind_t;

typedef struct code_item {
    code_kind_t kind;
    const char *path; /* relative to the source tree */
    int         line;
    const char *text;     /* up to the body, white space as single blanks */
    char        name[96]; /* of a function or variable; a type's typedef name, or "" */
    char        tag[96];  /* of a type that has a body here, or "" */
    bool        is_static;
} code_item_t;

/* Call `each` for the items of all files below the folder whose names end in .EXT for one
 * of `exts`, in order; an item is valid during the call. Returns the number of files. */
typedef void (*code_fn_t)(const code_item_t *item);
int code_items(const char *folder, const char *exts, code_fn_t each);

/* The identifier that begins at or after `*at_p`, copied to `name`; moves `*at_p` behind
 * it. False at the end of the text. */
bool code_identifier(const char **at_p, char name[96]);
#endif
