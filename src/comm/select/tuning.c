/* tuning.c - reads tuning tables; select.h describes them. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "comm/select/select.h"

/* One choice of a line; a line with three algorithms makes three entries. */
typedef struct entry {
    int           ranks, line; /* line number in the file */
    size_t        from;        /* bytes */
    fire_choice_t choice;
} entry_t;

struct fire_tuning {
    entry_t *entry; /* in the order of the file */
    int64_t  n, cap;
};

static fire_status_t parse_option(const char *text, fire_choice_t *choice)
{
    char end;

    if (sscanf(text, "colors=%d%c", &choice->colors, &end) == 1) return FIRE_OK;
    if (sscanf(text, "piece=%zu%c", &choice->piece, &end) == 1) return FIRE_OK;
    return FIRE_FAIL(FIRE_ERR_PARSE, "unknown option \"%s\" of an algorithm", text);
}

fire_status_t fire_choice_parse(const char *text, fire_choice_t *choice_p)
{
    char          word[128], *rest = word, *option;
    fire_choice_t choice = {0};

    if (snprintf(word, sizeof(word), "%s", text) >= (int)sizeof(word))
        return FIRE_FAIL(FIRE_ERR_PARSE, "too long: \"%s\"", text);
    FIRE_TRY(fire_algo_find(strsep(&rest, ":"), &choice.algo));
    while ((option = strsep(&rest, ":")) != NULL)
        FIRE_TRY(parse_option(option, &choice));
    *choice_p = choice;
    return FIRE_OK;
}

static fire_status_t parse_line(fire_tuning_t *t, char *line, int number)
{
    char   *rest, *word;
    entry_t e = {.line = number};
    int     used;

    line[strcspn(line, "#\r")] = '\0';
    if (line[strspn(line, " \t")] == '\0') return FIRE_OK;
    if (sscanf(line, "%d %zu %n", &e.ranks, &e.from, &used) != 2)
        return FIRE_FAIL(FIRE_ERR_PARSE, "expected: RANKS FROM_BYTES ALGORITHM ...");
    for (word = strtok_r(line + used, " \t", &rest); word != NULL;
         word = strtok_r(NULL, " \t", &rest)) {
        FIRE_TRY(fire_choice_parse(word, &e.choice));
        FIRE_TRY(fire_grow(&t->entry, &t->cap, t->n + 1, sizeof(*t->entry)));
        t->entry[t->n++] = e;
    }
    return FIRE_OK;
}

static fire_status_t parse_lines(fire_tuning_t *t, const char *path, char *text)
{
    char *rest = text, *line;

    for (int number = 1; (line = strsep(&rest, "\n")) != NULL; number++) {
        fire_status_t st = parse_line(t, line, number);

        if (st < 0) return fire_error_prefix(st, "%s:%d", path, number);
    }
    return FIRE_OK;
}

fire_status_t fire_tuning_parse(const char *path, const char *text,
                                fire_tuning_t **tuning_p)
{
    fire_tuning_t *t;
    char          *copy = NULL;
    fire_status_t  st;

    FIRE_TRY(FIRE_NEW(&t, 1));
    st = fire_strdup(text, &copy);
    if (st == FIRE_OK) st = parse_lines(t, path, copy);
    fire_free(copy);
    if (st < 0) {
        fire_tuning_destroy(t);
        return st;
    }
    *tuning_p = t;
    return FIRE_OK;
}

void fire_tuning_destroy(fire_tuning_t *t)
{
    if (t == NULL) return;
    fire_free(t->entry);
    fire_free(t);
}

bool fire_tuning_at(const fire_tuning_t *t, int ranks, size_t bytes, int i,
                    fire_choice_t *choice_p)
{
    const entry_t *best = NULL;

    for (int64_t k = 0; k < t->n; k++) {
        const entry_t *e = &t->entry[k];

        if (e->ranks == ranks && e->from <= bytes &&
            (best == NULL || e->from > best->from))
            best = e;
    }
    if (best == NULL || best + i >= t->entry + t->n || best[i].line != best->line)
        return false;
    *choice_p = best[i].choice;
    return true;
}

/* Send rank 0's n bytes to all; *text_p is set on every rank or on none. */
static fire_status_t share_text(fire_comm_t *c, char **text_p, size_t n)
{
    uint64_t      len = n;
    fire_status_t st  = FIRE_OK;

    FIRE_TRY(fire_comm_broadcast(c, 0, &len, sizeof(len)));
    if (c->tp->rank != 0) st = FIRE_NEW(text_p, len + 1);
    FIRE_TRY(fire_comm_agree(c, st));
    return fire_comm_broadcast(c, 0, *text_p, len);
}

fire_status_t fire_tuning_read(fire_comm_t *c, const char *path,
                               fire_tuning_t **tuning_p)
{
    char         *text = NULL;
    size_t        n    = 0;
    fire_status_t st   = FIRE_OK;

    *tuning_p = NULL;
    if (path == NULL) return FIRE_OK;
    if (c->tp->rank == 0) st = fire_file_read(path, &text, &n);
    st = fire_comm_agree(c, st);
    if (st == FIRE_OK) st = share_text(c, &text, n);
    if (st == FIRE_OK) st = fire_tuning_parse(path, text, tuning_p);
    fire_free(text);
    return st;
}
