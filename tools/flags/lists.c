/* lists.c - cuts lists at their commas. */
#include "flags/lists.h"

#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"

fire_status_t list_cut(const char *flag, const char *value, list_t *list)
{
    char *rest;

    FIRE_TRY(fire_strdup(value, &list->text));
    rest = list->text;
    while (rest != NULL && list->n < LIST_MOST)
        list->word[list->n++] = strsep(&rest, ",");
    if (rest == NULL) return FIRE_OK;
    return FIRE_FAIL(FIRE_ERR_INVALID, "--%s: more than %d entries", flag, LIST_MOST);
}

fire_status_t list_count(const char *flag, const char *word, int *n_p)
{
    char *end;
    long  n = strtol(word, &end, 10);

    if (end == word || *end != '\0' || n < 1 || n > 1 << 24)
        return FIRE_FAIL(FIRE_ERR_INVALID, "--%s: \"%s\" is not a number of at least 1",
                         flag, word);
    *n_p = (int)n;
    return FIRE_OK;
}
