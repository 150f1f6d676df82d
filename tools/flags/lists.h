/* lists.h - values of flags that are lists: "a,b,c". */
#ifndef FIRE_TOOLS_FLAGS_LISTS_H
#define FIRE_TOOLS_FLAGS_LISTS_H
#include "base/error.h"

enum { LIST_MOST = 64 };

typedef struct list {
    char *text; /* a copy of the value, cut at its commas; end it with fire_free() */
    const char *word[LIST_MOST];
    int         n;
} list_t;

fire_status_t list_cut(const char *flag, const char *value, list_t *list);
/* Parse an integer of at least 1; `flag` is for the message. */
fire_status_t list_count(const char *flag, const char *word, int *n_p);
#endif
