/* tune.c - the file of measured choices, see tune.h. */
#include "device/tune.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/log.h"
#include "base/text/text.h"

#define HEADER "firecaffe tune 1\n"

enum { KEY_TEXT = 256 };

typedef struct entry {
    char   key[KEY_TEXT]; /* one word */
    int    choice;        /* a number that only the caller understands */
    double ms;
} entry_t;

struct fire_tune {
    char     path[1024];
    entry_t *entry;
    int64_t  n, cap;
};

/* Append a word to a path; characters other than letters, digits and '-' become '_'. */
static void append_word(char *path, size_t size, const char *word)
{
    size_t at = strlen(path);

    for (; *word != '\0' && at + 1 < size; word++, at++)
        path[at] = (*word >= '0' && *word <= '9') || (*word >= 'A' && *word <= 'Z') ||
                           (*word >= 'a' && *word <= 'z') || *word == '-'
                       ? *word
                       : '_';
    path[at] = '\0';
}

/* The path of the file; words of any characters give valid names. */
static void find_path(fire_tune_t *t, const char *gpu, const char *library)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");

    if (cache != NULL && cache[0] == '/')
        snprintf(t->path, sizeof(t->path), "%s/firecaffe/tune/", cache);
    else
        snprintf(t->path, sizeof(t->path), "%s/.cache/firecaffe/tune/",
                 home != NULL ? home : "");
    append_word(t->path, sizeof(t->path), gpu);
    append_word(t->path, sizeof(t->path), "-");
    append_word(t->path, sizeof(t->path), library);
}

/* Linear: there are some hundred entries. */
static entry_t *find(const fire_tune_t *t, const char *key)
{
    for (int64_t i = 0; i < t->n; i++)
        if (strcmp(t->entry[i].key, key) == 0) return &t->entry[i];
    return NULL;
}

/* The first choice for a problem wins: all processes then use the same one. */
static fire_status_t add(fire_tune_t *t, const entry_t *e)
{
    if (find(t, e->key) != NULL) return FIRE_OK;
    FIRE_TRY(fire_grow(&t->entry, &t->cap, t->n + 1, sizeof(*t->entry)));
    t->entry[t->n++] = *e;
    return FIRE_OK;
}

/* Add all entries of a file's text. */
static fire_status_t parse(fire_tune_t *t, const char *text, size_t size)
{
    if (strlen(text) != size || strncmp(text, HEADER, strlen(HEADER)) != 0)
        return FIRE_FAIL(FIRE_ERR_PARSE,
                         "is no file of measured plans: the first line is another");
    text += strlen(HEADER);
    while (*text != '\0') {
        entry_t e;
        int     used = 0;

        if (sscanf(text, "%255s %d %lf%n", e.key, &e.choice, &e.ms, &used) != 3 ||
            text[used] != '\n' || e.choice < 0)
            return FIRE_FAIL(FIRE_ERR_PARSE,
                             "has a line that is not a key, a choice and milliseconds");
        FIRE_TRY(add(t, &e));
        text += used + 1;
    }
    return FIRE_OK;
}

/* Add the file's entries to those in memory. */
static void read_file(fire_tune_t *t)
{
    int64_t before = t->n;
    char   *text;
    size_t  size;

    if (access(t->path, F_OK) != 0) return;
    if (fire_file_read(t->path, &text, &size) < 0) {
        FIRE_LOG(WARNING, "%s", fire_last_error());
        return;
    }
    if (parse(t, text, size) < 0) {
        FIRE_LOG(WARNING, "%s: %s; plans are measured again", t->path,
                 fire_last_error());
        t->n = before;
    }
    fire_free(text);
}

fire_status_t fire_tune_open(const char *gpu, const char *library, fire_tune_t **tune_p)
{
    fire_tune_t *t;

    FIRE_TRY(FIRE_NEW(&t, 1));
    find_path(t, gpu, library);
    read_file(t);
    *tune_p = t;
    return FIRE_OK;
}

void fire_tune_close(fire_tune_t *t)
{
    if (t == NULL) return;
    fire_free(t->entry);
    fire_free(t);
}

bool fire_tune_find(const fire_tune_t *t, const char *key, int *choice_p)
{
    const entry_t *e = find(t, key);

    if (e != NULL) *choice_p = e->choice;
    return e != NULL;
}

/* Write all entries; the file is replaced atomically. */
static fire_status_t write_file(const fire_tune_t *t)
{
    fire_str_t    s = {0};
    fire_status_t st;

    FIRE_TRY(fire_dir_make_for(t->path));
    st = fire_str_printf(&s, "%s", HEADER);
    for (int64_t i = 0; i < t->n && st >= 0; i++)
        st = fire_str_printf(&s, "%s %d %.4f\n", t->entry[i].key, t->entry[i].choice,
                             t->entry[i].ms);
    if (st >= 0) st = fire_file_write(t->path, s.text, (size_t)s.n);
    fire_str_fini(&s);
    return st;
}

fire_status_t fire_tune_keep(fire_tune_t *t, const char *key, int choice, double ms)
{
    entry_t e = {.choice = choice, .ms = ms};

    if (snprintf(e.key, sizeof(e.key), "%s", key) >= (int)sizeof(e.key)) return FIRE_OK;
    FIRE_TRY(add(t, &e));
    read_file(t);
    if (write_file(t) < 0)
        FIRE_LOG(WARNING, "plans will be measured again: %s", fire_last_error());
    return FIRE_OK;
}
