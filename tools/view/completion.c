/* completion.c - what the scripts for bash, zsh and fish have in common: which values a
 * flag takes, and which words begin a command. */
#include "view/completion.h"

#include <string.h>

completion_value_t completion_value(const fire_option_t *o)
{
    if (o->arg == NULL) return COMPLETE_NOTHING;
    if (o->words != NULL) return COMPLETE_WORDS;
    if (strcmp(o->arg, "FILE") == 0 || strcmp(o->arg, "FILES") == 0)
        return COMPLETE_FILE;
    return strcmp(o->arg, "DIR") == 0 ? COMPLETE_DIRECTORY : COMPLETE_TEXT;
}

bool completion_extension(const char **help, char extension[EXTENSION_MAX])
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789.";

    for (const char *p = strchr(*help, '.'); p != NULL; p = strchr(p + 1, '.')) {
        size_t n = strspn(p, letters);

        if (p > *help && p[-1] != ' ' && p[-1] != '(') continue;
        while (n > 0 && p[n - 1] == '.') /* the end of a sentence, or "..." */
            n--;
        if (n < 2 || n >= EXTENSION_MAX) continue;
        memcpy(extension, p, n);
        extension[n] = '\0';
        *help        = p + n;
        return true;
    }
    return false;
}

size_t completion_first_word(const command_t *c)
{
    return strcspn(c->name, " ");
}

bool completion_has_family(const command_t *c)
{
    return c->name[completion_first_word(c)] == ' ';
}

bool completion_same_family(const command_t *a, const command_t *b)
{
    size_t n = completion_first_word(a);

    return n == completion_first_word(b) && strncmp(a->name, b->name, n) == 0;
}

bool completion_is_first(int i)
{
    for (int k = 0; k < i; k++)
        if (completion_same_family(command_at(k), command_at(i))) return false;
    return true;
}

fire_status_t completion_escape(fire_str_t *out, const char *text, const char *special)
{
    for (; *text != '\0'; text++) {
        bool is_special = strchr(special, *text) != NULL;

        if (is_special) FIRE_TRY(fire_str_add(out, "\\", 1));
        if (*text == '\'' && !is_special)
            FIRE_TRY(fire_str_add(out, "'\\''", 4));
        else
            FIRE_TRY(fire_str_add(out, text, 1));
    }
    return FIRE_OK;
}
