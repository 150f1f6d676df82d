/* command.c - the command line of one run: as typed, with flags added that replace some
 * of it. */
#include "launch/attempt.h"
#include "launch/hosts.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"

fire_status_t fire_words_add(fire_words_t *w, const char *word)
{
    FIRE_TRY(fire_grow(&w->word, &w->cap, w->n + 2, sizeof(*w->word)));
    return fire_strdup(word, &w->word[w->n++]);
}

static fire_status_t add(fire_words_t *w, const char *format, ...) FIRE_PRINTF(2, 3);

static fire_status_t add(fire_words_t *w, const char *format, ...)
{
    char    text[PATH_MAX + 64];
    va_list ap;

    va_start(ap, format);
    vsnprintf(text, sizeof(text), format, ap);
    va_end(ap);
    return fire_words_add(w, text);
}

void fire_words_fini(fire_words_t *w)
{
    for (int64_t i = 0; i < w->n; i++)
        fire_free(w->word[i]);
    fire_free(w->word);
}

static fire_status_t add_words(fire_words_t *w, const char *text)
{
    char         *copy, *rest;
    fire_status_t st = FIRE_OK;

    FIRE_TRY(fire_strdup(text, &copy));
    for (char *word = strtok_r(copy, " \t", &rest); word != NULL && st >= 0;
         word       = strtok_r(NULL, " \t", &rest))
        st = fire_words_add(w, word);
    fire_free(copy);
    return st;
}

static fire_status_t add_launcher(fire_words_t *w, const fire_attempt_t *a)
{
    if (a->hosts != NULL)
        FIRE_TRY(fire_hosts_add_words(a->hosts, a->workers, w));
    else
        FIRE_TRY(add_words(w, a->launch->launcher));
    if (w->n == 0) return FIRE_OK;
    FIRE_TRY(add(w, "-n"));
    return add(w, "%d", a->workers);
}

static fire_status_t add_program(fire_words_t *w)
{
    char    program[PATH_MAX];
    ssize_t len = readlink("/proc/self/exe", program, sizeof(program) - 1);

    if (len < 0)
        return FIRE_FAIL(FIRE_ERR_IO, "cannot tell where this program is: %s",
                         strerror(errno));
    program[len] = '\0';
    return add(w, "%s", program);
}

/* The command line as typed, then flags that replace some of it: where a flag is given
 * twice, the last one counts. */
fire_status_t fire_attempt_command(const fire_attempt_t *a, fire_words_t *w)
{
    const fire_launch_t *l = a->launch;

    FIRE_TRY(add_launcher(w, a));
    FIRE_TRY(add_program(w));
    for (int i = 1; i < l->argc; i++)
        FIRE_TRY(add(w, "%s", l->argv[i]));
    FIRE_TRY(add(w, "--launcher="));
    FIRE_TRY(add(w, "--restarts=0"));
    FIRE_TRY(add(w, "--supervised"));
    if (l->restarts > 0) FIRE_TRY(add(w, "--attempt=%lld", (long long)a->number));
    FIRE_TRY(add(w, "--workers=%d", l->launcher[0] != '\0' ? 1 : a->workers));
    if (a->lanes > 0) FIRE_TRY(add(w, "--lanes=%d", a->lanes));
    if (a->snapshot == NULL) return FIRE_OK;
    FIRE_TRY(add(w, "--noweights"));
    return add(w, "--snapshot=%s", a->snapshot);
}
