/* image_list.c - the parser of image lists. */
#include "data/image_list.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"

char *fire_line_cut(char **text)
{
    char *line = *text, *end;

    if (line == NULL || *line == '\0') return NULL;
    end   = line + strcspn(line, "\n");
    *text = *end == '\n' ? end + 1 : end;
    *end  = '\0';
    if (end > line && end[-1] == '\r') end[-1] = '\0';
    return line;
}

static bool parse_label(const char *text, int *label_p)
{
    char *end;
    long  label;

    errno = 0;
    label = strtol(text, &end, 10);
    if (end == text || *end != '\0' || errno != 0 || label < INT_MIN || label > INT_MAX)
        return false;
    *label_p = (int)label;
    return true;
}

/* Split one line at its last space; `line` is changed and kept. */
static fire_status_t add_line(fire_image_list_t *list, char *line)
{
    char             *space = strrchr(line, ' ');
    fire_image_item_t item  = {.path = line};

    if (space == NULL || space == line || !parse_label(space + 1, &item.label))
        return FIRE_FAIL(FIRE_ERR_PARSE,
                         "\"%s\" is not a path, a space and a whole number", line);
    *space = '\0';
    FIRE_TRY(fire_grow(&list->item, &list->cap, list->count + 1, sizeof(*list->item)));
    list->item[list->count++] = item;
    return FIRE_OK;
}

static fire_status_t parse(fire_image_list_t *list, const char *file)
{
    char *rest = list->text, *line;

    for (int number = 1; (line = fire_line_cut(&rest)) != NULL; number++) {
        fire_status_t st = *line != '\0' ? add_line(list, line) : FIRE_OK;

        if (st < 0) return fire_error_prefix(st, "%s:%d", file, number);
    }
    if (list->count == 0)
        return FIRE_FAIL(FIRE_ERR_INVALID, "%s: lists no images", file);
    return FIRE_OK;
}

fire_status_t fire_image_list_load(const char *file, fire_image_list_t *list_p)
{
    fire_image_list_t list = {0};
    fire_status_t     st;

    FIRE_TRY(fire_file_read_text(file, &list.text));
    st = parse(&list, file);
    if (st < 0) {
        fire_image_list_fini(&list);
        return st;
    }
    *list_p = list;
    return FIRE_OK;
}

void fire_image_list_fini(fire_image_list_t *list)
{
    fire_free(list->text);
    fire_free(list->item);
    *list = (fire_image_list_t){0};
}
