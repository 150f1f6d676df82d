/* window_list.c - the parser of R-CNN's window files: a stream of words. */
#include "data/window_list.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"

enum { BACKGROUND, FOREGROUND };

/* Where the parser is in the text. */
typedef struct reader {
    char *rest;     /* text after the last word */
    int   line;     /* line of the last word, from 1 */
    bool  new_line; /* the last word ended its line */
} reader_t;

/* Cut out the next word and count the lines before it. NULL at the end. */
static char *next_word(reader_t *r)
{
    char *word;

    r->line += r->new_line;
    r->new_line = false;
    for (; *r->rest != '\0' && strchr(" \t\r\n", *r->rest) != NULL; r->rest++)
        r->line += *r->rest == '\n';
    if (*r->rest == '\0') return NULL;
    word = r->rest;
    r->rest += strcspn(r->rest, " \t\r\n");
    if (*r->rest != '\0') {
        r->new_line = *r->rest == '\n';
        *r->rest++  = '\0';
    }
    return word;
}

/* The next word as a number of [least, 1e9]. */
static fire_status_t read_number(reader_t *r, double least, double *value_p)
{
    const char *word = next_word(r);
    char       *end;
    double      value;

    if (word == NULL) return FIRE_FAIL(FIRE_ERR_PARSE, "the file ends early");
    value = strtod(word, &end);
    if (end == word || *end != '\0' || !(value >= least && value <= 1e9))
        return FIRE_FAIL(FIRE_ERR_PARSE, "\"%s\" is not a number of %g to 1e9", word,
                         least);
    *value_p = value;
    return FIRE_OK;
}

/* Read one window and add it to foreground or background, or drop it. */
static fire_status_t read_window(fire_window_list_t *list, reader_t *r, float fg,
                                 float bg)
{
    double                v[6]; /* class overlap x1 y1 x2 y2 */
    fire_image_window_t   w;
    fire_image_windows_t *to = NULL;

    for (int i = 0; i < 6; i++)
        FIRE_TRY(read_number(r, i < 2 ? 0 : -1e9, &v[i]));
    w = (fire_image_window_t){(int)list->nimage, (int)v[0], (int)v[2],
                              (int)v[3],         (int)v[4], (int)v[5]};
    if ((float)v[1] >= fg) {
        if (w.label <= 0)
            return FIRE_FAIL(FIRE_ERR_INVALID,
                             "a foreground window needs a class above 0");
        to = &list->kind[FOREGROUND];
    } else if ((float)v[1] < bg) {
        w.label = 0;
        to      = &list->kind[BACKGROUND];
    }
    if (to == NULL) return FIRE_OK;
    FIRE_TRY(fire_grow(&to->item, &to->cap, to->count + 1, sizeof(*to->item)));
    to->item[to->count++] = w;
    return FIRE_OK;
}

static fire_status_t read_image(fire_window_list_t *list, reader_t *r, float fg,
                                float bg)
{
    double      channels, height, width, n;
    const char *path;

    if (next_word(r) == NULL || (path = next_word(r)) == NULL)
        return FIRE_FAIL(FIRE_ERR_PARSE, "the file ends early");
    FIRE_TRY(read_number(r, 1, &channels));
    FIRE_TRY(read_number(r, 1, &height));
    FIRE_TRY(read_number(r, 1, &width));
    FIRE_TRY(read_number(r, 0, &n));
    for (int64_t i = 0; i < (int64_t)n; i++)
        FIRE_TRY(read_window(list, r, fg, bg));
    FIRE_TRY(
        fire_grow(&list->image, &list->cap, list->nimage + 1, sizeof(*list->image)));
    list->image[list->nimage++] = path;
    return FIRE_OK;
}

/* Each image begins with "# number"; the number itself is not used. */
static fire_status_t parse(fire_window_list_t *list, const char *file, float fg,
                           float bg)
{
    reader_t    r = {list->text, 1, false};
    const char *word;

    while ((word = next_word(&r)) != NULL) {
        fire_status_t st =
            strcmp(word, "#") == 0
                ? read_image(list, &r, fg, bg)
                : FIRE_FAIL(FIRE_ERR_PARSE,
                            "\"%s\" found where an image must begin with \"# number\"",
                            word);

        if (st < 0) return fire_error_prefix(st, "%s:%d", file, r.line);
    }
    return FIRE_OK;
}

fire_status_t fire_window_list_load(const char *file, float fg_threshold,
                                    float bg_threshold, fire_window_list_t *list_p)
{
    fire_window_list_t list = {0};
    fire_status_t      st;

    FIRE_TRY(fire_file_read_text(file, &list.text));
    st = parse(&list, file, fg_threshold, bg_threshold);
    if (st < 0) {
        fire_window_list_fini(&list);
        return st;
    }
    *list_p = list;
    return FIRE_OK;
}

void fire_window_list_fini(fire_window_list_t *list)
{
    fire_free(list->text);
    fire_free(list->image);
    fire_free(list->kind[BACKGROUND].item);
    fire_free(list->kind[FOREGROUND].item);
    *list = (fire_window_list_t){0};
}
