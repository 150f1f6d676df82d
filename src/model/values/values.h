/* values.h - trees of keys and values, as text format writes them, for settings whose
 * keys no schema knows: those of layers from plug-ins. Functions that read a tree are
 * public: <fire/layer.h>. */
#ifndef FIRE_MODEL_VALUES_H
#define FIRE_MODEL_VALUES_H
#include <fire/layer.h>
#include "model/lexer.h"

/* A number or word is kept as it was written ("-0.5", "true"), a text without its
 * quotes and escapes. */
typedef enum fire_value_kind {
    FIRE_VALUE_NUMBER,
    FIRE_VALUE_WORD,
    FIRE_VALUE_TEXT,
    FIRE_VALUE_GROUP,
} fire_value_kind_t;

typedef struct fire_value {
    char             *key; /* as all pointers here, owned */
    fire_value_kind_t kind;
    char             *text;  /* NULL for a group */
    fire_values_t    *group; /* NULL for all others */
} fire_value_t;

/* Members are for values.c and values_text.c. */
struct fire_values {
    char         *name; /* for messages: "plugin_param", "plugin_param.filler" */
    fire_value_t *item; /* [n] in the order of the text; a list is one item per value */
    int64_t       n, cap;
    char        **known; /* [nknown] keys that were asked for */
    int64_t       nknown, known_cap;
};

fire_status_t fire_values_create(const char *name, fire_values_t **v_p);
void          fire_values_destroy(fire_values_t *v); /* NULL is allowed */

/* Append what stands in the text from the lexer's current token up to a closing
 * bracket, which stays the current token; '\0': up to the end of the text. Errors are
 * "FILE:LINE:COLUMN: ...". */
fire_status_t fire_values_read(fire_values_t *v, fire_lexer_t *lx, char closing);
/* The same for n characters of text. `what` takes the place of FILE. */
fire_status_t fire_values_parse(fire_values_t *v, const char *text, size_t n,
                                const char *what);
/* Append the tree as text, one value a line. Reading that gives an equal tree, and
 * printing it again the same text. */
fire_status_t fire_values_print(const fire_values_t *v, int indent, fire_str_t *out);

/* Fails for a key that no function has asked for, with the nearest one that was. */
fire_status_t fire_values_check(const fire_values_t *v);
/* Somebody else reads this group: no key in it is unknown. */
void fire_values_trust(fire_values_t *v, const char *key);
#endif
